/**
 * What stands between a text and one that is raised behind it: a power or the mark of a note would be a part of the number before it, so
 * 10 to the sixth is `10^6`.
 */
export function signOfRaised(before: string, raised: string): string {
  return /\d$/.test(before) && /^[-+\u2212\u2013]?\d/.test(raised) ? '^' : '';
}
