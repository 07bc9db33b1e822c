/**
 * An `it` that takes long: it waits as long as users do, kills processes again and again, or reads whole pages of pictures. `npm test` runs
 * it if its place is named, `npm run test:nightly` always, and a release waits for that.
 */
export const nightly: (title: string, test: Mocha.AsyncFunc) => { timeout(ms: number): unknown } = process.env.TEST_NIGHTLY
  ? it
  : () => ({ timeout: () => undefined });
