import type { Span } from '../characters.ts';
import { back, forward } from '../characters.ts';
import { firstWhere, lastWhere } from './binary-search.ts';
import { chunkSize } from './chunking.ts';

/** The boundaries to cut at, in order of preference: after a paragraph, a line, a sentence, a word. */
const boundaries = [/\n\s*\n/g, /\n/g, /[.!?。！？]["'”’)]?\s/g, /\s/g];

/** A chunk of a text, and the index of its beginning. */
interface TextPiece {
  text: string;
  start: number;
}

/** A chunk with its form for search. */
export interface Cut extends TextPiece {
  /** The context that the chunk needs from elsewhere in the document: titles of headings or names of columns. Empty if there is none. */
  context: string;
  /** Its text without markup, as prose. */
  plain: string;
}

/** Positions that cuts must respect, as indexes of the text in ascending order. */
interface CutMarks {
  /** The beginnings of sections: a chunk ends before one, unless it would be short. */
  sections: number[];
  /** Rows of tables, which are divided only if they are longer than a chunk. */
  rows: Span[];
  /** The maximum number of characters of a chunk that begins there; by default that of the size. */
  sizeAt?(start: number): number;
}

const noMarks: CutMarks = { sections: [], rows: [] };

/**
 * Cuts text into chunks of about 1,200 characters that overlap by about 150, or of another size, at the best boundary in the last third of
 * each. A chunk that is at least a quarter full ends at a section's beginning, and no overlap reaches into the section before. Rows and
 * surrogate pairs stay whole; white space around chunks is dropped.
 */
export function splitText(text: string, size = chunkSize, marks = noMarks): TextPiece[] {
  const pieces: TextPiece[] = [];
  // The size depends on the index at which the chunk's text begins.
  let [start, end] = [skipSpace(text, 0), 0];
  while (start < text.length && end < text.length) {
    const next = findEnd(text, start, marks.sizeAt?.(start) ?? size.characters, marks);
    if (text.slice(end, next).trim() === '') {
      // A row that did not fit does not fit after the overlap either. Without this, each word of the overlap would begin a chunk.
      start = skipSpace(text, end);
      continue;
    }
    end = next;
    pieces.push({ text: text.slice(start, end).trimEnd(), start });
    start = skipSpace(text, findStart(text, { previous: start, end, overlap: size.overlap }, marks));
  }
  return pieces;
}

function skipSpace(text: string, from: number): number {
  const next = /\S/g;
  next.lastIndex = from;
  return next.exec(text)?.index ?? text.length;
}

function findEnd(text: string, start: number, size: number, { sections, rows }: CutMarks): number {
  const short = Math.floor(size / 4);
  const full = forward(text, start, size);
  const soonest = forward(text, start, short);
  const section = firstWhere(sections, (one) => one >= soonest) ?? text.length;
  if (section <= full) return section;
  // The remainder before the next section must not be a short chunk either.
  const limit = section < text.length ? Math.min(full, back(text, section, short)) : full;
  const end = findBoundary(text, forward(text, start, Math.floor((size * 2) / 3)), limit);
  const row = lastWhere(rows, (one) => one.start < end);
  return row && row.end > end && row.start > start ? row.start : end;
}

function findBoundary(text: string, from: number, limit: number): number {
  const window = text.slice(from, limit);
  for (const boundary of boundaries) {
    const last = [...window.matchAll(boundary)].at(-1);
    if (last) return from + last.index + last[0].length;
  }
  return limit;
}

/** The next chunk begins a little before the end of the last one, at the beginning of a word or a row. */
function findStart(text: string, { previous, end, overlap }: { previous: number; end: number; overlap: number }, marks: CutMarks): number {
  const { sections, rows } = marks;
  const earliest = Math.max(back(text, end, overlap), forward(text, previous, 1));
  const section = lastWhere(sections, (one) => one <= end) ?? -1;
  if (section >= earliest) return section;
  const row = lastWhere(rows, (one) => one.start < end);
  const endsWithRow = row !== undefined && row.end <= end && text.slice(row.end, end).trim() === '';
  if (endsWithRow) return Math.min(end, firstWhere(rows, (one) => one.start >= earliest)?.start ?? end);
  const space = text.slice(earliest, end).search(/\s\S/);
  const start = space === -1 ? earliest : earliest + space + 1;
  const divided = lastWhere(rows, (one) => one.start < start);
  return divided && divided.end > start && divided.end <= end ? divided.end : start;
}
