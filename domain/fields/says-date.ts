const locales = `en de fr es it pt nl sv da nb fi pl cs sk hu ro ru uk bg el tr hr sl et lv lt ca id vi ar he hi ko`.split(' ');
const token = /\d+|\p{L}[\p{L}\p{M}]*/gu;
/** Longer words part a day from its month. */
const longestBetween = 3;

/** Whether a text has a date of the form 2026-03-31, in digits or with the name of its month. */
export function saysDate(text: string, date: string): boolean {
  const [year = 0, month = 0, day = 0] = date.split('-').map(Number);
  const parts = partsOf(text);
  const isYear = (part: Part | undefined) => part?.number === year || (part?.digits === 2 && part.number === year % 100);
  const isMonth = (part: Part | undefined) => part?.month === month || part?.number === month;
  const isDay = (part: Part | undefined) => part?.number === day;
  return parts.some((first, index) => {
    const [second, third] = [parts[index + 1], parts[index + 2]];
    if (isYear(first) && first.digits === 4) return isMonth(second) && isDay(third);
    return isYear(third) && ((isDay(first) && isMonth(second)) || (isMonth(first) && isDay(second)));
  });
}

/** Whether a text has a date: a number beside the name of a month, or three numbers of which one is a year. */
export function hasDate(text: string): boolean {
  const parts = partsOf(text);
  return parts.some(({ month, digits }, index) => {
    const [second, third] = [parts[index + 1], parts[index + 2]];
    if (month !== undefined) return second?.number !== undefined || parts[index - 1]?.number !== undefined;
    return digits !== undefined && second?.digits !== undefined && third?.digits !== undefined && (digits === 4 || third.digits === 4);
  });
}

interface Part {
  number?: number;
  digits?: number;
  month?: number | undefined;
}

/** The numbers and words of a text. Short words are left out: `3rd of March`, `3 de marzo`, `3 марта 2026 г.`. */
function partsOf(text: string): Part[] {
  return [...text.normalize('NFKC').toLowerCase().matchAll(token)].flatMap(([found]): Part[] => {
    if (/^\d/.test(found)) return [{ number: Number(found), digits: found.length }];
    const month = monthNames().get(found);
    return month === undefined && found.length <= longestBetween ? [] : [{ month }];
  });
}

let names: ReadonlyMap<string, number> | undefined;

/** The months, from 1, by their names in some thirty languages, whole and short. */
function monthNames(): ReadonlyMap<string, number> {
  names ??= new Map(locales.flatMap((locale) => (['long', 'short'] as const).flatMap((month) => namesIn(locale, month))));
  return names;
}

function namesIn(locale: string, length: 'long' | 'short'): [string, number][] {
  const formats = [{ month: length }, { month: length, day: 'numeric' }] as const;
  return formats
    .flatMap((options) => {
      const format = new Intl.DateTimeFormat(locale, { ...options, timeZone: 'UTC' });
      return Array.from({ length: 12 }, (_, month): [string, number] => {
        const part = format.formatToParts(Date.UTC(2023, month)).find(({ type }) => type === 'month');
        return [part?.value.toLowerCase().replace(/\.$/, '') ?? '', month + 1];
      });
    })
    .filter(([name]) => /^\p{L}[\p{L}\p{M}]*$/u.test(name));
}
