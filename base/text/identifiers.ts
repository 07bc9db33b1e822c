import { fold, lower } from './fold.ts';
import { pairedRun, unspacedRun } from './scripts.ts';

/** Numbers and identifiers, which are written in several notations, with signs and without. */

const separatedNumber = /(?<!\d)\d+(?:[.,]\d+)+/g;

/** Writes numbers with a decimal point, and without signs of thousands: `1,250.00` and `1.250,00` as `1250.00`, `6,25` as `6.25`. */
export function normalizeNumbers(text: string): string {
  return text.replace(separatedNumber, (number) => {
    if (/^\d{1,3}(?:,\d{2,3})*,\d{3}(?:\.\d+)?$/.test(number)) return number.replaceAll(',', '');
    if (/^\d{1,3}(?:\.\d{3})+,\d+$/.test(number)) return number.replaceAll('.', '').replace(',', '.');
    return /^\d+,\d+$/.test(number) ? number.replace(',', '.') : number;
  });
}

/** An IBAN in groups, or groups of digits: of a telephone number, an ISBN, an amount. */
export const groups =
  /(?<![\p{L}\p{N}.,])(?:[a-z]{2}\d\d(?:[ -][a-z\d]{4}){2,7}(?:[ -][a-z\d]{1,3})?|\d+(?:[ )(/.'’-]{1,3}\d+){1,15})(?![\p{L}\p{N}])/giu;
/** `1 250`, `1'250.00`, and `1.250`, which may be a decimal as well. */
const thousands = /^\d{1,3}(?:[ .'’]\d{3})+(?=$|\.\d\d?$)/;
const decimal = /^\d+\.\d+$/;
/** Shorter runs are rather ranges or times. */
const minLength = 7;

/** A run of {@link groups} as one term without its signs; undefined if it is too short, or a decimal. */
export function joinGroups(run: string): string | undefined {
  const [amount] = thousands.exec(run) ?? [];
  const joined = (amount ?? run)
    .toLowerCase()
    .replace('(0)', '')
    .replaceAll(/[^a-z\d]/g, '');
  return amount !== undefined || (joined.length >= minLength && !decimal.test(run)) ? joined : undefined;
}

/** An identifier of letters and digits without the signs that join it: `ab12345` for `ab-1234/5`. */
export function withoutSigns(run: string): string | undefined {
  return /\p{L}/u.test(run) && /[\d_]/.test(run) && !/[^\p{L}\p{M}\p{N}/_.-]/u.test(run) ? run.replaceAll(/[/_.-]/g, '') : undefined;
}

const mixed = /^(\p{L}*)(\d{2,})(\p{L}*)$/u;
const measure = /^\p{L}*\d+(?:x\d+)+\p{L}*$/u;

/**
 * The letters and the number of a word like `iso9001` or `sn0004472`, the number without leading zeros, too; the parts of a measure like
 * `m8x40`.
 */
export function partsOfMixed(word: string): string[] {
  if (measure.test(word)) return word.split(/(?<=\d)x(?=\d)/);
  const [, before = '', digits = '', after = ''] = mixed.exec(word) ?? [];
  const parts = new Set([before, digits, digits.replace(/^0+(?=\d{3})/, ''), after]);
  return [...parts].filter((part) => part.length > 1 && part !== word);
}

/** Writes measures without spaces: `m8 x 40` and `m8×40` as `m8x40`. */
export function joinDimensions(text: string): string {
  return text.replace(/(?<=\d) ?[x×] ?(?=\d)/g, 'x');
}

/** A telephone number with its prefix: that of a country, or the zero before that of an area. */
export const phones = /(?<![\p{L}\p{N}.,+])(?:\+|0)\d*(?:[ )(/.'’-]{1,3}\d+)*(?![\p{L}\p{N}])/gu;
/** The prefixes of countries by E.164: those of one and two digits, else three. */
const country = /^(?:00|\+)(?:1|7|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]|\d{3})/;
const minNational = 8;

/** The digits of a run of {@link phones} that it has with each prefix; undefined if they are too few for a telephone number. */
export function nationalOf(run: string): string | undefined {
  const digits = run.replace('(0)', '').replaceAll(/[^\d+]/g, '');
  const national = country.test(digits) ? digits.replace(country, '') : digits.replace(/^0/, '');
  return national.length >= minNational ? national : undefined;
}

const dimensions = /(?<![\p{L}\p{N}])\p{L}*\d+(?: ?[x×] ?\d+)+/gu;
const signed = /(?<![\p{L}\p{M}\p{N}])[\p{L}\p{M}\p{N}]+(?:[/_.-][\p{L}\p{M}\p{N}]+)+/gu;
const joined = /(?<![\p{L}\p{M}\p{N}])\p{L}+[-.]\p{L}+(?![-.\p{L}\p{M}\p{N}])/gu;
const lettersFirst = /(?<![\p{L}\p{M}\p{N}])\p{L}+ \d+(?![\p{L}\p{M}\p{N}])/gu;
const digitsFirst = /(?<![\p{L}\p{M}\p{N}])\d+ \p{L}+(?![\p{L}\p{M}\p{N}])/gu;
const withoutSpace = (run: string) => run.replace(' ', '');
const numberOf = (run: string) => normalizeNumbers(run).replace(/\.00$/, '');
const notations: [RegExp, (run: string) => string | undefined][] = [
  [groups, joinGroups],
  [phones, nationalOf],
  [dimensions, joinDimensions],
  [separatedNumber, numberOf],
  [lettersFirst, withoutSpace],
  [digitsFirst, withoutSpace],
  [joined, (run) => run.replace(/[-.]/, '')],
  [signed, (run) => withoutSigns(fold(run))],
];

/** What of a text may be written in another way, and the term that stands for it in each. */
export function notationsOf(text: string): { run: string; term: string }[] {
  if (!/\p{N}|\p{L}[-.]\p{L}/u.test(text)) return [];
  const lowered = lower(text).replace(pairedRun, ' ').replace(unspacedRun, ' ');
  return notations.flatMap(([pattern, termOf]) =>
    [...lowered.matchAll(pattern)].flatMap(([run]) => {
      const term = termOf(run);
      return term === undefined ? [] : [{ run, term }];
    }),
  );
}
