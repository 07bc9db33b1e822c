import type { Span } from '../characters.ts';
import { back, forward } from '../characters.ts';
import { firstWhere, lastWhere } from './binary-search.ts';
import { chunkSize } from './chunking.ts';

/** Where a cut reads best, in order of preference: after a paragraph, a line, a sentence, a word. */
const boundaries = [/\n\s*\n/g, /\n/g, /[.!?。！？]["'”’)]?\s/g, /\s/g];

/** A chunk of a text, and the index that it begins at. */
export interface TextPiece {
  text: string;
  start: number;
}

/** The same with how search reads it. */
export interface Cut extends TextPiece {
  /** What the chunk needs to be understood, from elsewhere in the document: titles of headings, names of columns. Empty if there is nothing. */
  context: string;
  /** Its text without markup, as prose. */
  plain: string;
}

/** What cuts go by, besides the text itself. All of it as indexes of the text, in their order. */
interface CutMarks {
  /** Where sections begin: a chunk ends before them, unless it would be short. */
  sections: number[];
  /** What is not divided, unless it is longer than a chunk: rows of tables. */
  rows: Span[];
  /** How many characters a chunk that begins there may have; those of the size by default. */
  roomAt?(start: number): number;
}

const noMarks: CutMarks = { sections: [], rows: [] };

/**
 * Cuts text into chunks of about 1,200 characters that overlap by about 150, or of another size, at the best boundary in the last third of
 * each. A chunk also ends where a section begins, if it has a quarter of its size by then, and shares no text with the section before. No
 * row is divided, or shared in part. Each chunk has something that the one before it lacks. Surrogate pairs stay whole. White space around
 * a chunk is dropped, and so is a chunk of nothing else.
 */
export function splitText(text: string, size = chunkSize, marks = noMarks): TextPiece[] {
  const pieces: TextPiece[] = [];
  // The room is that of where the chunk's text begins.
  let [start, end] = [skipSpace(text, 0), 0];
  while (start < text.length && end < text.length) {
    const next = findEnd(text, start, marks.roomAt?.(start) ?? size.characters, marks);
    if (text.slice(end, next).trim() === '') {
      // A row that did not fit does not fit behind the overlap either, and each word of that would begin a chunk.
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

function findEnd(text: string, start: number, room: number, { sections, rows }: CutMarks): number {
  const short = Math.floor(room / 4);
  const full = forward(text, start, room);
  const soonest = forward(text, start, short);
  const section = firstWhere(sections, (one) => one >= soonest) ?? text.length;
  if (section <= full) return section;
  // What is left until the next section is no short chunk either.
  const limit = section < text.length ? Math.min(full, back(text, section, short)) : full;
  const end = findBoundary(text, forward(text, start, Math.floor((room * 2) / 3)), limit);
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

/** The next chunk begins a little before the last one's end: at a word's beginning, or at a row's. */
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
