import type { Outline } from '../../db/schema.ts';
import { countCharacters } from '../characters.ts';
import { type ChunkSize, chunkSize } from './chunking.ts';
import { cutDocument } from './cut-document.ts';
import { headingAt, type LocatedHeading, locateHeadings } from './heading-paths.ts';
import type { Cut } from './split-text.ts';

/** Where a chunk stands in its document. Positions are in characters (code points). */
export interface ChunkPosition {
  start: number;
  end: number;
  /** The page that it begins on, from 1; null for kinds without pages, and behind the pages. */
  page: number | null;
  /** The beginning of each further page, in characters of the chunk. */
  pageBreaks: number[] | null;
  /** The headings above its beginning, the outermost first; if there are none, those of the first heading in it. */
  headings: string[];
}

/** A chunk of a document, not embedded yet. */
export interface CutChunk {
  /** As it stands in the document's text. */
  text: string;
  /** The text to embed: without markup, after the titles of its headings, or with the names of its columns or keys. */
  embedded: string;
  position: ChunkPosition;
}

/** Options that decide how a text is cut. */
interface CutOptions {
  /** The media type of the document; without one, its text is cut as prose. */
  contentType?: string | undefined;
  size?: ChunkSize;
}

/** Cuts a text into chunks of a size, each with its position in the document and its form for search. */
export function cutChunks(text: string, outline: Outline, { contentType, size = chunkSize }: CutOptions = {}): CutChunk[] {
  const headings = locateHeadings(text, outline.headings);
  let [passed, characters] = [0, 0];
  return cutDocument(text, contentType, headings, size).map((cut) => {
    characters += countCharacters(text.slice(passed, cut.start));
    passed = cut.start;
    const [start, end] = [characters, characters + countCharacters(cut.text)];
    const position = { start, end, headings: headingsOf(headings, cut), ...findPages(outline, start, end) };
    return { text: cut.text, embedded: joinLines(cut), position };
  });
}

function headingsOf(headings: LocatedHeading[], { start, text }: Cut): string[] {
  // The text before the first heading is only a title or a few words.
  const first = headings[0]?.start ?? 0;
  return headingAt(headings, Math.max(start, Math.min(first, start + text.length - 1)))?.path ?? [];
}

function joinLines({ context, plain, text }: Cut): string {
  // A chunk may be nothing but marks, or empty values.
  const read = plain.trim() === '' ? text : plain;
  return context === '' ? read : `${context}\n${read}`;
}

function findPages(outline: Outline, start: number, end: number): Pick<ChunkPosition, 'page' | 'pageBreaks'> {
  const page = pageAt(outline, start);
  if (page === null) return { page, pageBreaks: null };
  return { page, pageBreaks: outline.pages?.slice(page).flatMap((one) => (one < end ? [one - start] : [])) ?? null };
}

/** The page of a position, from 1; null for kinds without pages, and behind the pages. */
export function pageAt({ pages, pagesEnd }: Outline, position: number): number | null {
  if (!pages || (pagesEnd !== undefined && position >= pagesEnd)) return null;
  return Math.max(1, pages.filter((one) => one <= position).length);
}
