import { languagesOf } from './languages.ts';
import { readNumberWords } from './number-words.ts';
import { isSaidBy, readDates, type WrittenDate } from './read-dates.ts';
import { readNumbers } from './read-numbers.ts';
import { readTimes } from './read-times.ts';

const units: RegExp[] = [
  /[%％]|\b(?:percent|per cent|pour cent|por ciento|per cento)\b|prozent|процент|パーセント/iu,
  /€|\bEUR\b|\beuros?\b/iu,
  /\$|\bUSD\b|\bdollars?\b|ドル/iu,
  /£|\bGBP\b|\bpounds?\b/iu,
  /[¥￥円]|\bJPY\b|\byen\b/iu,
  /\bCHF\b|\bfranken\b|\bfrancs?\b/iu,
];

/** Whether a plain text has a percentage or a currency that the other texts do not have. */
export function lacksUnit(said: string, others: string): boolean {
  return /\d/.test(said) && units.some((unit) => unit.test(said) && !unit.test(others));
}

/**
 * The kind of a date, time or number in a plain text that the quotes do not have in any notation, or have less often; undefined if they have
 * all. `sentences`: the sentences around the quotes, from which their languages are known.
 */
export function findUnsaidNumber(said: string, quotes: string, sentences: string[]): 'date' | 'number' | undefined {
  const known = [said, ...sentences].flatMap(languagesOf);
  const languages = known.length > 0 ? [...new Set(known)] : ['en'];
  const numbers = [
    ...readNumbers(quotes).map(({ readings }) => readings),
    ...readNumberWords(quotes, languages).map((value) => [String(value)]),
    ...readTimes(quotes).map(({ readings }) => readings),
  ];
  const dates = readDates(quotes);
  numbers.push(...yearsOf(dates).flatMap((year) => (numbers.some((readings) => readings.includes(year)) ? [] : [[year]])));
  const saidDates = readDates(said);
  const years = new Set(numbers.flat().map(Number));
  if (!eachHasItsOwn(saidDates.toSorted(bySpecificity), dates, (date, other) => isSaidBy(date, other, years))) return 'date';
  const saidTimes = readTimes(said).filter((time) => !saidDates.some((date) => overlap(date, time)));
  const taken = [...saidDates, ...saidTimes];
  const saidNumbers = readNumbers(said).filter((number) => !taken.some((other) => overlap(other, number)));
  const words = readNumberWords(said, languages).map((value) => [String(value)]);
  const saidReadings = [...[...saidTimes, ...saidNumbers].map(({ readings }) => readings), ...words];
  return eachHasItsOwn(saidReadings, numbers, (one, other) => one.some((reading) => other.includes(reading))) ? undefined : 'number';
}

/** Whether each item has a partner of its own: `between 25 and 25` is not `between 15 and 25`. */
function eachHasItsOwn<T>(wanted: T[], others: T[], fits: (one: T, other: T) => boolean): boolean {
  const left = [...others];
  return wanted.every((one) => {
    const index = left.findIndex((other) => fits(one, other));
    if (index >= 0) left.splice(index, 1);
    return index >= 0;
  });
}

function yearsOf(dates: WrittenDate[]): string[] {
  return dates.flatMap(({ readings }) => (readings[0]?.year === undefined ? [] : [String(readings[0].year)]));
}

function bySpecificity(one: WrittenDate, other: WrittenDate): number {
  return partsOf(other) - partsOf(one);
}

function partsOf({ readings: [first = {}] }: WrittenDate): number {
  return Object.values(first).filter((part) => part !== undefined).length;
}

function overlap(one: { start: number; end: number }, other: { start: number; end: number }): boolean {
  return one.start < other.end && other.start < one.end;
}
