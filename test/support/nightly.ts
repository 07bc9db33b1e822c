// Mocha gives each file an `it` and a `describe` of its own: those of the time of the call count, since this module serves many files.

/**
 * An `it` that takes long: it waits as long as users do, kills processes again and again, or reads whole pages of pictures. `npm test` runs
 * it if its place is named, `npm run test:nightly` always, and a release waits for that.
 */
export function nightly(title: string, test: Mocha.AsyncFunc): { timeout(ms: number): unknown } {
  return process.env.TEST_NIGHTLY ? it(title, test) : { timeout: () => undefined };
}

/** A `describe` of such tests, of which none starts anything before its time. */
export function nightlySuite(title: string, suite: (this: Mocha.Suite) => void): void {
  if (process.env.TEST_NIGHTLY) describe(title, suite);
}
