const locales = `en de fr es it pt nl sv da nb fi pl cs sk hu ro ru uk bg el tr hr sl et lv lt ca id vi ar he hi ko`.split(' ');
const shortMonths = { jan: 1, feb: 2, mar: 3, apr: 4, jun: 6, jul: 7, aug: 8, sep: 9, sept: 9, oct: 10, nov: 11, dec: 12 };
const otherShort = { okt: 10, dez: 12, mrz: 3, janv: 1, févr: 2, avr: 4, juil: 7, déc: 12, ene: 1, abr: 4, dic: 12, jänner: 1 };

/** Months from 1 and days of the week from 1, by their names in lower case. */
interface Calendar {
  months: ReadonlyMap<string, number>;
  weekdays: ReadonlyMap<string, number>;
}

let calendar: Calendar | undefined;

/** The names of months and weekdays in some thirty languages, as they stand alone and in a date. */
export function namesOfDays(): Calendar {
  calendar ??= readNames();
  return calendar;
}

function readNames(): Calendar {
  const months = new Map<string, number>(Object.entries({ ...shortMonths, ...otherShort }));
  const weekdays = new Map<string, number>();
  for (const locale of locales) {
    const formats = [{ month: 'long' }, { month: 'long', day: 'numeric' }] as const;
    for (const format of formats.map((options) => new Intl.DateTimeFormat(locale, { ...options, timeZone: 'UTC' }))) {
      for (let month = 1; month <= 12; month += 1) add(months, format, Date.UTC(2023, month - 1, 1), 'month', month);
    }
    const format = new Intl.DateTimeFormat(locale, { weekday: 'long', timeZone: 'UTC' });
    for (let day = 1; day <= 7; day += 1) add(weekdays, format, Date.UTC(2023, 0, day + 1), 'weekday', day);
  }
  return { months, weekdays };
}

function add(names: Map<string, number>, format: Intl.DateTimeFormat, time: number, type: 'month' | 'weekday', value: number): void {
  const name = format
    .formatToParts(time)
    .find((part) => part.type === type)
    ?.value.toLowerCase();
  if (name && /^[\p{L}\p{M}]{3,}$/u.test(name) && !names.has(name)) names.set(name, value);
}
