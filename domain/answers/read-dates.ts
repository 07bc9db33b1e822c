import { namesOfDays } from './calendar.ts';

/** A date in a text, with the parts that are written: month, day, year, weekday. */
export interface WrittenDate {
  start: number;
  end: number;
  /** Its possible meanings: 3/4/2024 has two. */
  readings: { year?: number | undefined; month?: number | undefined; day?: number | undefined; weekday?: number | undefined }[];
}

const word = '(\\p{L}[\\p{L}\\p{M}]*)';
const year = '(?:,? *(?:de |del |of |г\\. )?(\\d{4}))?(?!\\d)';
const forms: [RegExp, (groups: (string | undefined)[]) => WrittenDate['readings']][] = [
  [/(?<!\d)(\d{4})(?:[-/.]| ?年 ?| ?년 ?)(\d{1,2})(?:[-/.]| ?月 ?| ?월 ?)(\d{1,2})(?!\d)/gu, ([y, m, d]) => dates(y, m, d)],
  [
    /(?<!\d)(\d{1,2})([./-])(\d{1,2})\2(\d{4}|\d\d)(?!\d)/gu,
    ([a, , b, y]) => yearsOf(y).flatMap((full) => [...dates(full, b, a), ...dates(full, a, b)]),
  ],
  [/(?<!\d)(\d{1,2}) ?[月월] ?(\d{1,2}) ?[日일]/gu, ([m, d]) => dates(undefined, m, d)],
  [/(?<!\d)(\d{4}) ?[年년] ?(\d{1,2}) ?[月월]/gu, ([y, m]) => dates(y, m, undefined)],
  [/(?<!\d)(\d{1,2}) ?[月월](?![間间])/gu, ([m]) => dates(undefined, m, undefined)],
  [
    new RegExp(`(?<!\\d)(\\d{1,2})(?:st|nd|rd|th|er|\\.|º|ª)?,? +(?:of |de |d'|den )?${word}\\.?${year}`, 'gu'),
    ([d, m, y]) => named(y, m, d),
  ],
  [
    new RegExp(`(?<![\\p{L}\\p{M}])${word}\\.? +(?:the )?(\\d{1,2})(?:st|nd|rd|th)?(?![\\d.,:]\\d)${year}`, 'gu'),
    ([m, d, y]) => named(y, m, d),
  ],
  [new RegExp(`(?<![\\p{L}\\p{M}])${word}\\.?,? +(?:of |de |del )?(\\d{4})(?!\\d)`, 'gu'), ([m, y]) => named(y, m, undefined)],
  [/(?<![\d.])(\d{1,2})\.(\d{1,2})\.(?!\d)/gu, ([d, m]) => dates(undefined, m, d)],
  [new RegExp(`(?<![\\p{L}\\p{M}])${word}`, 'gu'), ([name]) => alone(name)],
];

/** The dates, months and weekdays of a plain text, in the ways that some thirty languages write them. No two overlap. */
export function readDates(text: string): WrittenDate[] {
  const found: WrittenDate[] = [];
  for (const [form, read] of forms) {
    form.lastIndex = 0;
    for (let match = form.exec(text); match; match = form.exec(text)) {
      const [start, end] = [match.index, match.index + match[0].length];
      const readings = read(match.slice(1));
      if (readings.length > 0 && !found.some((other) => start < other.end && other.start < end)) found.push({ start, end, readings });
      // After a word that is no month, the date may still begin.
      else form.lastIndex = start + Math.max(1, match[1]?.length ?? 1);
    }
  }
  return found;
}

function dates(year: string | number | undefined, month: string | number | undefined, day: string | undefined): WrittenDate['readings'] {
  const [y, m, d] = [year, month, day].map((part) => (part === undefined ? undefined : Number(part)));
  if (m === undefined || m < 1 || m > 12 || (d !== undefined && (d < 1 || d > 31))) return [];
  return [{ year: y, month: m, day: d }];
}

function yearsOf(year = ''): number[] {
  return year.length === 4 ? [Number(year)] : [Number(`20${year}`), Number(`19${year}`)];
}

function named(year: string | undefined, month = '', day: string | undefined): WrittenDate['readings'] {
  return dates(year, namesOfDays().months.get(month.toLowerCase()), day);
}

/** A month that stands alone, or a weekday. `may` in small letters is more likely the verb. */
function alone(name = ''): WrittenDate['readings'] {
  const { months, weekdays } = namesOfDays();
  const [month, weekday] = [months.get(name.toLowerCase()), weekdays.get(name.toLowerCase())];
  if (weekday !== undefined) return [{ weekday }];
  return month !== undefined && (name.length > 3 || /^\p{Lu}/u.test(name)) ? [{ month }] : [];
}

/** Whether another date has every part of this one, in one of its readings. If it has no year, one of `years` will do. */
export function isSaidBy(date: WrittenDate, other: WrittenDate, years: ReadonlySet<number>): boolean {
  return date.readings.some((said) =>
    other.readings.some(
      ({ year, month, day, weekday }) =>
        (said.month === undefined || said.month === month) &&
        (said.day === undefined || said.day === day) &&
        (said.weekday === undefined || said.weekday === weekday) &&
        (said.year === undefined || said.year === year || (year === undefined && years.has(said.year))),
    ),
  );
}
