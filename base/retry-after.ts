/** Without it `Date.parse` would take a number that is below 0, too. */
const beginsWithDay = /^[a-z]{3,9},? /i;
/** The oldest form of dates in HTTP, that of `asctime`, names no zone: it is GMT. */
const endsWithZone = /(?:[a-z]|[+-]\d\d:?\d\d)\)?$/i;
/** The longest time that a timer can measure: one of more would fire at once. */
const maxMs = 2 ** 31 - 1;

/**
 * A `Retry-After` header in milliseconds, 24 days at most: it holds seconds or a date, and a date that has passed is 0. Undefined if it is
 * absent, empty, or neither. The TypeScript client, which imports nothing from here, has its twin; a test reads both.
 */
export function readRetryAfterMs(header: string | null | undefined): number | undefined {
  const value = header?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(value)) return Math.min(maxMs, Math.ceil(Number(value) * 1000));
  if (!beginsWithDay.test(value)) return undefined;
  const ms = Date.parse(endsWithZone.test(value) ? value : `${value} GMT`) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, Math.min(maxMs, ms)) : undefined;
}
