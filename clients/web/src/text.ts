import { language } from './language.ts';
import type { Messages } from './messages/en.ts';
import type { Said } from './said.ts';

/** The sentences, and in a language other than the service's those for what it says, and those above what it says. */
type Sentences = [Messages, ((said: Said) => string | undefined)?, Record<string, string>?];

const files: Record<typeof language, () => Promise<Sentences>> = {
  en: async () => [(await import('./messages/en.ts')).en],
  de: async () => {
    const { de, ofService, inGeneral } = await import('./messages/de.ts');
    return [de, ofService, inGeneral];
  },
};

const [messages, ofService, inGeneral] = await files[language]();

/** The sentences of the console. No module that says one runs before they are there. */
export const t: Messages = messages;

/** What the service has said, in the language of the console if that has a sentence for its code; else in the service's own words. */
export const inWords = (said: Said): string => ofService?.(said) ?? said.message;

/** The same on one line. */
export const inBrief = (said: Said): string => [aboveWords(said), inWords(said)].filter(Boolean).join(' ');

/** What stands before the service's own words in the language of the console, if it has no other sentence for them. */
export const aboveWords = (said: Said): string | undefined => (ofService?.(said) ? undefined : inGeneral?.[said.code ?? '']);

const units: [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
];
const relative = new Intl.RelativeTimeFormat(language);
const now = new Intl.RelativeTimeFormat(language, { numeric: 'auto' }).format(0, 'second');
const exact = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'medium' });
const day = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeZone: 'UTC' });
const percent = new Intl.NumberFormat(language, { style: 'percent' });
const megabytes = new Intl.NumberFormat(language, { maximumFractionDigits: 1 });

/**
 * `3 minutes ago`, `in 10 minutes`. What is nearer than the page is drawn anew, or than clocks agree, is `now`. The past is rounded down: an
 * hour ago is no less.
 */
export function formatRelative(date: string, at = Date.now()): string {
  const differenceMs = Date.parse(date) - at;
  if (Math.abs(differenceMs) < 10_000) return now;
  const [unit, unitMs] = units.find(([, each]) => Math.abs(differenceMs) >= each) ?? (['second', 1_000] as const);
  const amount = differenceMs / unitMs;
  return relative.format(amount < 0 ? Math.ceil(amount) : Math.round(amount), unit);
}

export const formatExact = (date: string): string => exact.format(new Date(date));
export const formatDay = (date: string): string => day.format(new Date(date));

export function formatBytes(bytes: number): string {
  const names = ['B', 'kB', 'MB', 'GB', 'TB'];
  const power = bytes === 0 ? 0 : Math.min(names.length - 1, Math.floor(Math.log10(bytes) / 3));
  return `${megabytes.format(bytes / 1000 ** power)} ${names[power]}`;
}

export const formatPercent = (share: number): string => percent.format(share);

const seconds = new Intl.NumberFormat(language, { style: 'unit', unit: 'second', unitDisplay: 'short', maximumFractionDigits: 1 });

/** `3.2 sec`. */
export const formatSeconds = (ms: number): string => seconds.format(ms / 1000);

const list = new Intl.ListFormat(language);

/** `Ada, Grace, and Alan`. */
export const formatList = (names: string[]): string => list.format(names);

export const formatNumber = (number: number): string => number.toLocaleString(language);

/** The code of an error in an address, which anybody may have written. */
export const codeOf = (given: string): string => (/^\w{1,64}$/.test(given) ? given : 'UNKNOWN');
