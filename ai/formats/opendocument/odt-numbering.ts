import type { Archive } from '../office/archive.ts';
import { showListNumber } from '../office/number-words.ts';
import { scanXml } from '../office/scan-xml.ts';

/** LibreOffice follows no longer chains. */
const maxChainLength = 20;
/** No list has a longer format, and each number repeats it. */
const maxFormatLength = 200;
const outline = 'Outline';
/** The formats of numbers that OpenDocument names by their first numbers. Other ones are shown in digits. */
const forms: Record<string, string> = {
  '1': 'decimal',
  i: 'lowerRoman',
  I: 'upperRoman',
  '1st': 'ordinal',
  '01, 02, 03, ...': 'decimalZero',
  '①, ②, ③, ...': 'decimalEnclosedCircle',
  '一, 二, 三, ...': 'chineseCounting',
  '가, 나, 다, ...': 'ganada',
  'А, Б, .., Аа, Аб, ... (ru)': 'russianUpper',
  'а, б, .., аа, аб, ... (ru)': 'russianLower',
};

interface Level {
  /** As `style:num-format`; '' for a level without a number, null for a bullet. */
  form: string | null;
  /** `a` goes on with `aa` and `bb`, not with `ab`. */
  isRepeated: boolean;
  start: number;
  before: string;
  behind: string;
  /** How many levels it shows, with its own. */
  shown: number;
  /** Such as `%1%.%2%)`, instead of the three above. */
  text: string | undefined;
}

type Levels = Map<number, Level>;

/** A list that is open, and its item. */
interface OpenList {
  style: string;
  counts: Counts;
  level: number;
  /** The item has its number already, or has none. */
  isTaken: boolean;
  start: number | undefined;
}

/** How far each level of a list has counted, by its level. */
type Counts = Map<number, number>;

/** Counts the paragraphs of lists and the headings of an OpenDocument text in their order, as LibreOffice does. */
export class OdtNumbering {
  readonly #lists = new Map<string, Levels>();
  /** What paragraphs' styles say of lists, and the styles that they are based on. */
  readonly #styles = new Map<string, { list: string | undefined; parent: string | undefined }>();
  #defined: Levels | undefined;
  /** The lists that are open, and those around the text box or note that is open. */
  #open: OpenList[] = [];
  readonly #around: OpenList[][] = [];
  readonly #known = new Map<string, Counts>();
  /** The last list of each style. */
  readonly #last = new Map<string, Counts>();
  readonly #headings: Counts = new Map();

  /** Reads the lists of the document's styles. Those of its content are read with it. */
  static async read(archive: Archive): Promise<OdtNumbering> {
    const numbering = new OdtNumbering();
    // The lists of headers and footers are there, too, and are none of the text.
    if (archive.has('styles.xml')) await scanXml(archive.readText('styles.xml'), { open: (...tag) => numbering.#define(...tag) });
    return numbering;
  }

  /** Takes an element that is no paragraph. */
  open(name: string, attributes: Record<string, string>): void {
    if (name === 'text:list') this.#openList(attributes);
    else if (name === 'text:list-item' || name === 'text:list-header')
      Object.assign(this.#open.at(-1) ?? {}, { isTaken: name === 'text:list-header', start: numberOf(attributes['text:start-value']) });
    else this.#define(name, attributes);
  }

  close(name: string): void {
    if (name === 'text:list') this.#open.pop();
  }

  openAside(): void {
    this.#around.push(this.#open);
    this.#open = [];
  }

  closeAside(): void {
    this.#open = this.#around.pop() ?? [];
  }

  /** The number of the next paragraph, such as `2.2`; '' if it has none. `heading` is the level of a heading. */
  next(attributes: Record<string, string>, heading: number | undefined): string {
    const list = this.#open.at(-1);
    if (list) {
      // A further paragraph of an item has no number, but what is deeper begins anew behind it.
      if (list.isTaken) endDeeper(list.counts, list.level);
      const number = list.isTaken ? '' : this.#count(list.style, list.counts, list.level, list.start);
      list.isTaken = true;
      return number;
    }
    const isCounted =
      heading !== undefined && attributes['text:is-list-header'] !== 'true' && !this.#isOutOfLists(attributes['text:style-name']);
    const start = attributes['text:restart-numbering'] === 'true' ? (numberOf(attributes['text:start-value']) ?? 1) : undefined;
    return isCounted ? this.#count(outline, this.#headings, heading, start) : '';
  }

  #openList(attributes: Record<string, string>): void {
    const outer = this.#open.at(-1);
    const style = attributes['text:style-name'] ?? outer?.style ?? '';
    const last = attributes['text:continue-numbering'] === 'true' ? this.#last.get(style) : undefined;
    const ofHeadings = style === outline ? this.#headings : undefined;
    const counts = outer?.counts ?? ofHeadings ?? this.#known.get(attributes['text:continue-list'] ?? '') ?? last ?? new Map();
    if (!outer) {
      this.#last.set(style, counts);
      if (attributes['xml:id']) this.#known.set(attributes['xml:id'], counts);
    }
    this.#open.push({ style, counts, level: (outer?.level ?? 0) + 1, isTaken: false, start: undefined });
  }

  #count(style: string, counts: Counts, at: number, start: number | undefined): string {
    const levels = this.#lists.get(style);
    const own = levels?.get(at);
    if (!levels || !own) return '';
    counts.set(at, start ?? (counts.get(at) ?? own.start - 1) + 1);
    endDeeper(counts, at);
    for (let outer = 1; outer < at; outer += 1) if (!counts.has(outer)) counts.set(outer, levels.get(outer)?.start ?? 1);
    if (own.form === null) return '';
    return own.text === undefined ? showLevels(levels, own, counts, at) : showText(levels, own.text, counts);
  }

  #define(name: string, attributes: Record<string, string>): void {
    if (name === 'text:list-style' || name === 'text:outline-style') {
      this.#defined = new Map();
      this.#lists.set(name === 'text:outline-style' ? outline : (attributes['style:name'] ?? ''), this.#defined);
    } else if (/^text:(?:list|outline)-level-style/.test(name))
      this.#defined?.set(Number(attributes['text:level']), levelOf(name, attributes));
    else if (name === 'style:style' && attributes['style:family'] === 'paragraph')
      this.#styles.set(attributes['style:name'] ?? '', {
        list: attributes['style:list-style-name'],
        parent: attributes['style:parent-style-name'],
      });
  }

  /** Whether a style, or one that it is based on, names an empty list, which takes headings out of their numbers. */
  #isOutOfLists(name: string | undefined): boolean {
    let style = this.#styles.get(name ?? '');
    for (let links = 0; style && style.list === undefined && links < maxChainLength; links += 1)
      style = this.#styles.get(style.parent ?? '');
    return style?.list === '';
  }
}

function endDeeper(counts: Counts, at: number): void {
  for (const level of counts.keys()) if (level > at) counts.delete(level);
}

function levelOf(name: string, attributes: Record<string, string>): Level {
  const format = Object.keys(attributes).find((key) => key.endsWith(':num-list-format'));
  return {
    form: /-(?:bullet|image)$/.test(name) ? null : (attributes['style:num-format'] ?? ''),
    isRepeated: attributes['style:num-letter-sync'] === 'true',
    start: numberOf(attributes['text:start-value']) ?? 1,
    before: attributes['style:num-prefix'] ?? '',
    behind: attributes['style:num-suffix'] ?? '',
    shown: numberOf(attributes['text:display-levels']) ?? 1,
    text: format && attributes[format]?.slice(0, maxFormatLength),
  };
}

function showLevels(levels: Levels, own: Level, counts: Counts, at: number): string {
  const numbers: string[] = [];
  for (let level = Math.max(1, at - own.shown + 1); level <= at; level += 1)
    if (levels.get(level)?.form) numbers.push(show(levels.get(level), counts.get(level)));
  return own.before + numbers.join('.') + own.behind;
}

/** A level without a number is left out, with the signs between it and the next one. */
function showText(levels: Levels, text: string, counts: Counts): string {
  return text.replace(/%(\d+)%((?:[^%]*(?=%\d+%))?)/g, (_, digits: string, signs: string) => {
    const level = levels.get(Number(digits));
    return level?.form ? show(level, counts.get(Number(digits))) + signs : '';
  });
}

function show(level: Level | undefined, value = 0): string {
  const form = level?.form ?? '';
  const letters = form === 'a' ? 'lowerLetter' : form === 'A' ? 'upperLetter' : undefined;
  if (!letters) return value === 0 ? '0' : showListNumber(value, forms[form] ?? 'decimal');
  return level?.isRepeated ? showListNumber(value, letters) : toLetterDigits(value, form);
}

/** a to z, then aa, ab. */
function toLetterDigits(value: number, first: string): string {
  let text = '';
  for (let rest = value; rest > 0; rest = Math.floor((rest - 1) / 26))
    text = String.fromCharCode(first.charCodeAt(0) + ((rest - 1) % 26)) + text;
  return text || String(value);
}

function numberOf(value: string | undefined): number | undefined {
  return value !== undefined && /^\d{1,9}$/.test(value) ? Number(value) : undefined;
}
