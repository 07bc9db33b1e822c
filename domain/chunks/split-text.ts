import { back, forward } from '../characters.ts';

/** How text is cut for search: characters (code points) for each chunk, and how many of them it shares with the one before. */
export interface ChunkSize {
  characters: number;
  overlap: number;
}

/** The usual size. */
export const chunkSize: ChunkSize = { characters: 1_200, overlap: 150 };

/** The size for a model that asks for chunks of so many characters. Their overlap has the usual share. */
export function chunkSizeOf(characters: number): ChunkSize {
  return { characters, overlap: Math.floor((characters * chunkSize.overlap) / chunkSize.characters) };
}

/** To be raised with every change of how a text is cut: documents that were cut otherwise are behind then. */
const chunkingVersion = 1;

/** Names how a text is cut: the version of the rules, and the size if it is not the usual one. */
export function chunkingOf({ characters }: ChunkSize): string {
  return characters === chunkSize.characters ? String(chunkingVersion) : `${chunkingVersion}/${characters}`;
}

/** The size that a name of {@link chunkingOf} tells. */
export function sizeOfChunking(chunking: string): ChunkSize {
  const [, characters = chunkSize.characters] = chunking.split('/');
  return chunkSizeOf(Number(characters));
}

/** How documents were cut before it was noted. */
export const firstChunking = '1';

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
 * Cuts text into chunks of about 1,200 characters that overlap by about 150, or of another size, at the best boundary in the last third of each.
 * Never cuts a surrogate pair. White space around a chunk is dropped, and so is a chunk of nothing else.
 */
export function splitText(text: string, size = chunkSize): string[] {
  return splitPieces(text, size).map((piece) => piece.text);
}

/** The same as {@link splitText}, with the index of each chunk. */
export function splitPieces(text: string, size = chunkSize): TextPiece[] {
  const pieces: TextPiece[] = [];
  let start = 0;
  while (start < text.length) {
    const end = findEnd(text, start, size);
    const piece = text.slice(start, end);
    if (piece.trim() !== '') pieces.push({ text: piece.trim(), start: start + piece.length - piece.trimStart().length });
    if (end >= text.length) break;
    start = findStart(text, start, { end, size });
  }
  return pieces;
}

function findEnd(text: string, start: number, { characters }: ChunkSize): number {
  const limit = forward(text, start, characters);
  if (limit === text.length) return limit;
  const from = forward(text, start, Math.floor((characters * 2) / 3));
  const window = text.slice(from, limit);
  for (const boundary of boundaries) {
    const last = [...window.matchAll(boundary)].at(-1);
    if (last) return from + last.index + last[0].length;
  }
  return limit;
}

/** The next chunk begins a little before the last one's end, at a word's beginning. */
function findStart(text: string, previous: number, { end, size }: { end: number; size: ChunkSize }): number {
  const earliest = Math.max(back(text, end, size.overlap), forward(text, previous, 1));
  const space = text.slice(earliest, end).search(/\s\S/);
  return space === -1 ? earliest : earliest + space + 1;
}
