import { countCharacters } from '../characters.ts';
import { lastWhere } from './binary-search.ts';
import { type ChunkSize, maxContext } from './chunking.ts';
import { headingAt, type LocatedHeading } from './heading-paths.ts';
import { type Cut, splitText } from './split-text.ts';
import { findTableRows } from './table-rows.ts';

/**
 * Cuts a text at its headings, paragraphs and rows of tables. For search each chunk begins with the titles of its headings, and with the
 * header row of a table that it continues.
 */
export function cutProse(text: string, headings: LocatedHeading[], size: ChunkSize): Cut[] {
  const rows = findTableRows(text);
  const max = maxContext(size);
  const contextAt = (start: number): string => {
    const row = lastWhere(rows, (one) => one.start <= start);
    const continues = row !== undefined && start < row.end && row.start > row.header.start;
    const head = continues ? text.slice(row.header.start, row.header.end).trim() : '';
    return joinWithin([...titlesAbove(headings, start), head], max);
  };
  const sizeAt = (start: number) => {
    const context = contextAt(start);
    return size.characters - (context === '' ? 0 : countCharacters(context) + 1);
  };
  const pieces = splitText(text, size, { sections: headings.map(({ start }) => start), rows, sizeAt });
  return pieces.map((piece) => ({ ...piece, context: contextAt(piece.start), plain: piece.text }));
}

/** The titles of the headings above an index, without a heading that begins there: its title is in the text. */
function titlesAbove(headings: LocatedHeading[], start: number): string[] {
  const heading = headingAt(headings, start);
  return heading?.start === start ? heading.path.slice(0, -1) : (heading?.path ?? []);
}

/** Joins the last lines that fit into `max` characters, since the innermost titles are the most specific. */
function joinWithin(lines: string[], max: number): string {
  const kept: string[] = [];
  let length = 0;
  for (const line of lines.toReversed()) {
    if (line === '') continue;
    length += countCharacters(line) + 1;
    if (length > max) break;
    kept.unshift(line);
  }
  return kept.join('\n');
}
