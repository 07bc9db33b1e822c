/**
 * An `it` that takes long: it waits as long as users do, kills processes again and again, or reads whole pages of pictures. `npm test` runs
 * it if its place is named, `npm run test:nightly` always, and a release waits for that.
 */
export const nightly: (title: string, test: Mocha.AsyncFunc) => { timeout(ms: number): unknown } = process.env.TEST_NIGHTLY
  ? it
  : () => ({ timeout: () => undefined });

/** A `describe` of such tests, of which none starts anything before its time. */
export const nightlySuite: (title: string, suite: (this: Mocha.Suite) => void) => unknown = process.env.TEST_NIGHTLY
  ? describe
  : () => undefined;
