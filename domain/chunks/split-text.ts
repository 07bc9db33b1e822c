import { back, forward } from '../characters.ts';

/** How text is cut for search: characters (code points) for each chunk, and how many of them it shares with the one before. */
export const chunkSize = { characters: 1_200, overlap: 150 };

/** A document of more chunks than this is not indexed. */
export const maxChunks = 2_000;

/** Where a cut reads best, in order of preference: after a paragraph, a line, a sentence, a word. */
const boundaries = [/\n\s*\n/g, /\n/g, /[.!?。！？]["'”’)]?\s/g, /\s/g];

/** A chunk of a text, and its index in it. */
export interface TextPiece {
  text: string;
  start: number;
}

/**
 * Cuts text into chunks of about 1,200 characters that overlap by about 150, at the best boundary in the last third of each.
 * Never cuts a surrogate pair. White space around a chunk is dropped, and so is a chunk of nothing else.
 */
export function splitText(text: string): string[] {
  return splitPieces(text).map((piece) => piece.text);
}

/** The same as {@link splitText}, with the index of each chunk. */
export function splitPieces(text: string): TextPiece[] {
  const pieces: TextPiece[] = [];
  let start = 0;
  while (start < text.length) {
    const end = findEnd(text, start);
    const piece = text.slice(start, end);
    if (piece.trim() !== '') pieces.push({ text: piece.trim(), start: start + piece.length - piece.trimStart().length });
    if (end >= text.length) break;
    start = findStart(text, start, end);
  }
  return pieces;
}

function findEnd(text: string, start: number): number {
  const limit = forward(text, start, chunkSize.characters);
  if (limit === text.length) return limit;
  const from = forward(text, start, Math.floor((chunkSize.characters * 2) / 3));
  const window = text.slice(from, limit);
  for (const boundary of boundaries) {
    const last = [...window.matchAll(boundary)].at(-1);
    if (last) return from + last.index + last[0].length;
  }
  return limit;
}

/** The next chunk begins a little before the last one's end, at a word's beginning. */
function findStart(text: string, previous: number, end: number): number {
  const earliest = Math.max(back(text, end, chunkSize.overlap), forward(text, previous, 1));
  const space = text.slice(earliest, end).search(/\s\S/);
  return space === -1 ? earliest : earliest + space + 1;
}
