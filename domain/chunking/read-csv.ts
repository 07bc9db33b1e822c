import type { Span } from '../characters.ts';

/** A record of a CSV text, and the values of its cells. */
export interface CsvRecord extends Span {
  cells: string[];
}

const delimiters = [',', ';', '\t', '|'];
/** The separator line that some programs write first, for Excel. It stays with the first record. */
const separatorLine = /^sep=([,;\t|])\n/i;
/** A number or a date, which cannot be a column's name. */
const value = /^[-+]?[\d\s.,:/%€$£-]+$/;
const year = /^(?:19|20)\d\d$/;

/**
 * The records of a CSV text, quoted or not; an empty one belongs to the next. Reads the text once, or twice if a quote is never closed.
 * `isPart`: more text follows, so a quote may be closed there.
 */
export function readCsvRecords(text: string, { isPart = false } = {}): CsvRecord[] {
  const [line = '', named] = separatorLine.exec(text) ?? [];
  const options = { delimiter: named ?? findDelimiter(text), from: line.length, isPart };
  return scan(text, { ...options, hasQuotes: true }) ?? scan(text, { ...options, hasQuotes: false }) ?? [];
}

/**
 * The names of the columns, if the first record holds them: at least two, all different, at most one empty, none of them a value unless the
 * values are consecutive years.
 */
export function columnNamesOf([first, second]: CsvRecord[]): string[] | undefined {
  const names = first?.cells.map((cell) => cell.trim()) ?? [];
  const values = names.filter((name) => value.test(name));
  const isHeader =
    second !== undefined &&
    names.filter((name) => name !== '').length > 1 &&
    new Set(names).size === names.length &&
    (values.length === 0 || (values.length < names.length && areConsecutiveYears(values)));
  return isHeader ? names : undefined;
}

function areConsecutiveYears(values: string[]): boolean {
  return values.length > 1 && values.every((one, index) => year.test(one) && Math.abs(Number(one) - Number(values[index - 1] ?? one)) <= 1);
}

/** The delimiter that occurs most often in the first line. */
function findDelimiter(text: string): string {
  const [line = ''] = text.trimStart().split('\n', 1);
  const countOf = (delimiter: string) => line.split(delimiter).length;
  return delimiters.reduce((best, one) => (countOf(one) > countOf(best) ? one : best));
}

/** Returns undefined if a quote is opened and not closed, unless the text is a part: then the last cell goes on to its end. */
function scan(
  text: string,
  { delimiter, hasQuotes, from, isPart }: { delimiter: string; hasQuotes: boolean; from: number; isPart: boolean },
): CsvRecord[] | undefined {
  const records: CsvRecord[] = [];
  let [start, at, cells]: [number, number, string[]] = [0, from, []];
  const endRecord = (end: number) => {
    if (cells.some((cell) => cell.trim() !== '')) {
      records.push({ start, end, cells });
      start = end;
    }
    cells = [];
  };
  while (at < text.length) {
    const isQuoted = hasQuotes && text[at] === '"';
    const cell = isQuoted ? readQuoted(text, at) : { value: '', end: at };
    if (!cell && !isPart) return undefined;
    const { value, end: closed } = cell ?? { value: text.slice(at + 1), end: text.length };
    const end = findEnd(text, closed, delimiter);
    cells.push(value + text.slice(closed, end));
    at = end + 1;
    if (text[end] !== delimiter) endRecord(Math.min(at, text.length));
  }
  endRecord(text.length);
  return records;
}

/** The end of a cell: the next delimiter or line end. */
function findEnd(text: string, from: number, delimiter: string): number {
  let end = from;
  while (end < text.length && text[end] !== delimiter && text[end] !== '\n') end += 1;
  return end;
}

/** A quoted cell, in which two quotes stand for one. */
function readQuoted(text: string, from: number): { value: string; end: number } | undefined {
  for (let at = text.indexOf('"', from + 1); at !== -1; at = text.indexOf('"', at + 2)) {
    if (text[at + 1] !== '"') return { value: text.slice(from + 1, at).replaceAll('""', '"'), end: at + 1 };
  }
  return undefined;
}
