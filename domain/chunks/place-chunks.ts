import type { Outline } from '../../db/schema.ts';
import { countCharacters } from '../characters.ts';
import { chunkSize, splitPieces } from './split-text.ts';

/** Where a chunk stands in its document. Positions are in characters (code points). */
export interface ChunkPlace {
  start: number;
  end: number;
  /** The page that it begins on, from 1; null for kinds without pages. */
  page: number | null;
  /** Where each further page begins, in characters of the chunk. */
  pageBreaks: number[] | null;
  /** The headings that it is under, the outermost first: those at its beginning, or else the first one in it. */
  headings: string[];
}

/** Cuts a text into chunks of a size, and tells where each stands. */
export function placeChunks(text: string, outline: Outline | null, size = chunkSize): { text: string; place: ChunkPlace }[] {
  const pathAt = createHeadingPath(outline?.headings ?? []);
  // Before it there is a title, or a few words.
  const first = outline?.headings[0]?.start ?? 0;
  let [passed, characters] = [0, 0];
  let newFrom = 0;
  return splitPieces(text, size).map((piece) => {
    characters += countCharacters(text.slice(passed, piece.start));
    passed = piece.start;
    const [start, end] = [characters, characters + countCharacters(piece.text)];
    // What it shares with the chunk before may be of another section.
    const headings = pathAt(Math.max(Math.min(Math.max(start, newFrom), end - 1), Math.min(first, end - 1)));
    newFrom = end;
    return { text: piece.text, place: { start, end, headings, ...findPages(outline?.pages ?? null, start, end) } };
  });
}

function findPages(starts: number[] | null, start: number, end: number): Pick<ChunkPlace, 'page' | 'pageBreaks'> {
  if (!starts) return { page: null, pageBreaks: null };
  const page = Math.max(1, starts.filter((one) => one <= start).length);
  return { page, pageBreaks: starts.slice(page).flatMap((one) => (one < end ? [one - start] : [])) };
}

/** The titles of the headings that a position is under. Positions are asked for in their order. */
function createHeadingPath(headings: Outline['headings']): (position: number) => string[] {
  const path: Outline['headings'] = [];
  let next = 0;
  return (position) => {
    for (let heading = headings[next]; heading && heading.start <= position; heading = headings[++next]) {
      while (path.length > 0 && (path.at(-1)?.level ?? 0) >= heading.level) path.pop();
      path.push(heading);
    }
    return path.map(({ title }) => title);
  };
}
