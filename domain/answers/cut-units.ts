import { findSentences } from '../../base/text/split-sentences.ts';
import { forward, type Span } from '../characters.ts';
import { columnNamesOf, readCsvRecords } from '../chunking/read-csv.ts';
import { findTableRows, type Line, linesOf } from '../chunking/table-rows.ts';

/** A cell of a row, with the head of its column; empty if the column has none. */
interface Cell {
  head: string;
  text: string;
}

/** The smallest part of a document that an answer shows: a sentence, an item of a list, a row of a table, or a heading. */
export interface Unit extends Span {
  kind: 'sentence' | 'item' | 'row' | 'heading';
  /** How far an item is indented, in characters. 0 for others. */
  depth: number;
  /** The cells of a row; of a sentence in JSON its text without escapes. Empty for others. */
  cells: Cell[];
  /** Where a unit of JSON is, the same for all units of a value: the keys that lead to it, and the row of its record before it. */
  place?: { keys: string[]; row: Unit | undefined };
}

const itemMark = /^(\s*)(?:[-*+•‣▪◦–·]|\(?(?:\d{1,3}(?:\.\d{1,3})*|[a-zA-Z]|[ivxIVX]{1,5})[.)])\s+(?=\S)/;
/** A mark that may as well go on in a sentence: `3. Mai`, `- 12`, `a)`. */
const doubtfulMark = /^\s*(?:\(?\d|\(?[a-zA-Z]{1,5}[.)]|\S\s+\d)/;
const ended = /[.!?…。！？:;：；،؛۔।|][)\]»”’"'*_]*\s*$/u;
const label = /^\s*[\p{L}\p{M}\p{N} .()/&-]{1,40}[:：]\s+\S/u;

/**
 * Cuts a text into units, in order. In doubt it does not cut: a sentence that goes on in the next line or paragraph is one, and no length
 * ends one. `headings`: the indexes at which headings begin.
 */
export function cutUnits(text: string, headings: number[]): Unit[] {
  const cutter = new UnitCutter(text, headings);
  for (const line of linesOf(text)) cutter.add(line);
  return cutter.finish();
}

/**
 * Cuts records of CSV. `first` is the first record of the document, which may name the columns; null if the cells cannot be told. `isPart`: more
 * text follows.
 */
export function cutRecords(text: string, first: string | null, { isPart = false } = {}): Unit[] {
  const head = first === null || text.startsWith(first) ? '' : first;
  const records = readCsvRecords(head + text, { isPart });
  const names = first === null ? undefined : columnNamesOf(records);
  const named = (cells: string[]) =>
    cells.map((cell, column) => ({ head: names?.[column]?.trim() ?? '', text: cell.trim() })).filter((cell) => cell.text !== '');
  return records.slice(names || head !== '' ? 1 : 0).map(({ start, end, cells }) => ({
    ...trim(text, { start: start - head.length, end: end - head.length }),
    kind: 'row',
    depth: 0,
    cells: first === null ? [] : named(cells),
  }));
}

/** How much of the head of a column stands before each cell, in characters. */
const longestHead = 100;

/** A unit on one line, a row with the heads of its cells: `Model: K1 · Weight: 410 g`. */
export function readable(text: string, { start, end, cells }: Unit): string {
  if (cells.length === 0) return text.slice(start, end).replace(/\s+/g, ' ');
  const named = cells.map((cell) =>
    cell.head === '' ? cell.text : `${cell.head.slice(0, forward(cell.head, 0, longestHead))}: ${cell.text}`,
  );
  return named.join(' · ');
}

class UnitCutter {
  readonly #text: string;
  readonly #units: Unit[] = [];
  readonly #headings: Set<number>;
  readonly #rows: Map<number, Span>;
  /** The lines of the paragraph or item that is not at its end yet. */
  #open: Line[] = [];
  #item: { depth: number } | undefined;
  #passedBlank = false;
  /** The names of the columns of the table that was read last, which begins at `start`. */
  #head: { start: number; names: string[] | undefined } | undefined;

  constructor(text: string, headings: number[]) {
    this.#text = text;
    this.#headings = new Set(headings.map((index) => text.lastIndexOf('\n', index - 1) + 1));
    this.#rows = new Map(findTableRows(text).map(({ start, header }) => [start, header]));
  }

  add(line: Line): void {
    const header = this.#rows.get(line.start);
    if (line.text.trim() === '') this.#passedBlank = true;
    else if (header) this.#addRow(line, header);
    else if (this.#headings.has(line.start) || /^\s{0,3}#{1,6}\s/.test(line.text)) this.#addHeading(line);
    else this.#addText(line);
  }

  finish(): Unit[] {
    this.#close();
    return this.#units;
  }

  /** The first row of a table is taken for its head if it may name the columns. */
  #addRow(line: Line, header: Span): void {
    this.#close();
    if (!/[\p{L}\p{N}]/u.test(line.text)) return;
    const isFirst = header.start === line.start;
    const hasNext = !isFirst || this.#rows.has(line.end + 1);
    const names = hasNext ? this.#namesOf(header) : undefined;
    const cells = cellsOf(line.text).map((text, column) => ({ head: isFirst ? '' : (names?.[column] ?? ''), text }));
    const kind = isFirst && names ? 'heading' : 'row';
    this.#units.push({ ...trim(this.#text, line), kind, depth: 0, cells: cells.filter(({ text }) => text !== '') });
  }

  /** Reads the head of a table once for all of its rows: either may be long. */
  #namesOf(header: Span): string[] | undefined {
    if (this.#head?.start !== header.start) {
      const first = { ...header, cells: cellsOf(this.#text.slice(header.start, header.end)) };
      this.#head = { start: header.start, names: columnNamesOf([first, first]) };
    }
    return this.#head.names;
  }

  #addHeading(line: Line): void {
    this.#close();
    this.#units.push({ ...trim(this.#text, line), kind: 'heading', depth: 0, cells: [] });
  }

  #addText(line: Line): void {
    const mark = itemMark.exec(line.text);
    const before = this.#open.at(-1);
    const goesOn = before !== undefined && !ended.test(before.text);
    // "am\n3. Oktober", "10\n- 12": within a paragraph a number begins an item only where a sentence has ended.
    const isItem = mark !== null && (this.#item !== undefined || this.#passedBlank || !goesOn || !doubtfulMark.test(line.text));
    const continues = goesOn && /^\s*\p{Ll}/u.test(line.text);
    if (isItem || (this.#passedBlank && !continues)) this.#close();
    if (isItem) this.#item = { depth: mark[1]?.length ?? 0 };
    this.#open.push(line);
    this.#passedBlank = false;
  }

  #close(): void {
    const [first, last] = [this.#open[0], this.#open.at(-1)];
    if (first && last) {
      const kind = this.#item ? 'item' : 'sentence';
      const spans = this.#item ? [{ start: first.start, end: last.end }] : this.#sentences();
      for (const span of spans) this.#units.push({ ...trim(this.#text, span), kind, depth: this.#item?.depth ?? 0, cells: [] });
    }
    this.#open = [];
    this.#item = undefined;
    this.#passedBlank = false;
  }

  /** The sentences of the open paragraph. Lines of the form `label: value` below each other are one each. */
  #sentences(): Span[] {
    const runs: Span[] = [];
    for (const [index, { start, end, text }] of this.#open.entries()) {
      const run = runs.at(-1);
      const isLabeled = label.test(text) && label.test(this.#open[index - 1]?.text ?? '');
      if (run && !isLabeled) run.end = end;
      else runs.push({ start, end });
    }
    return runs.flatMap((run) =>
      findSentences(this.#text.slice(run.start, run.end)).map(({ start, end }) => ({ start: run.start + start, end: run.start + end })),
    );
  }
}

/** The cells of a line such as `| a | b |`. */
function cellsOf(line: string): string[] {
  const inner = line
    .trim()
    .replace(/^\|/, '')
    .replace(/(?<!\\)\|$/, '');
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|'));
}

function trim(text: string, { start, end }: Span): Span {
  const part = text.slice(start, end);
  const first = start + Math.max(0, part.search(/\S/));
  return { start: first, end: start + part.trimEnd().length };
}
