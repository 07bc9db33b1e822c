import type { Span } from '../characters.ts';

/** A row of a table: a line of its own. */
interface TableRow extends Span {
  /** The first row of its table, which usually names the columns. */
  header: Span;
}

const cellUnderHead = /^:?-+:?$/;

/**
 * The rows of the tables of a text, in order: lines such as `| a | b |`, the form in which extraction writes tables, and lines such as `a |
 * b` of Markdown.
 */
export function findTableRows(text: string): TableRow[] {
  if (!text.includes('|')) return [];
  const rows: TableRow[] = [];
  let previous: Line | undefined;
  let isLoose = false;
  for (const line of linesOf(text)) {
    const isHead = previous !== undefined && line.text.includes('|') && previous.text.includes('|') && isUnderHead(line.text);
    if (isHead && previous && rows.at(-1)?.end !== previous.end) rows.push({ ...spanOf(previous), header: spanOf(previous) });
    isLoose = isHead || (isLoose && line.text.includes('|'));
    if (isLoose || isFramed(line.text)) rows.push({ ...spanOf(line), header: headerOf(rows.at(-1), line) });
    previous = line;
  }
  return rows;
}

/** A line of a text. */
export interface Line extends Span {
  text: string;
}

/** The lines of a text, without their line breaks. */
export function* linesOf(text: string): Generator<Line> {
  for (let start = 0; start < text.length; ) {
    const newline = text.indexOf('\n', start);
    const end = newline === -1 ? text.length : newline;
    yield { start, end, text: text.slice(start, end) };
    start = end + 1;
  }
}

/** Whether a line separates the head of a Markdown table from its body: `|---|:--:|`, also without the outer strokes. */
function isUnderHead(line: string): boolean {
  const cells = line.split('|').map((cell) => cell.trim());
  if (cells.at(0) === '') cells.shift();
  if (cells.at(-1) === '') cells.pop();
  return cells.length > 0 && cells.every((cell) => cellUnderHead.test(cell));
}

function isFramed(line: string): boolean {
  const trimmed = line.trim();
  return trimmed.length > 1 && trimmed.startsWith('|') && trimmed.endsWith('|');
}

/** The header of the row above, if it belongs to the same table. */
function headerOf(above: TableRow | undefined, line: Line): Span {
  return above && above.end + 1 === line.start ? above.header : spanOf(line);
}

function spanOf({ start, end }: Line): Span {
  return { start, end };
}
