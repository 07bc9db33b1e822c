import { lastWhere } from './binary-search.ts';
import { type ChunkSize, maxChunks } from './chunking.ts';
import { cutCsv } from './cut-csv.ts';
import { cutJson } from './cut-json.ts';
import { cutProse } from './cut-prose.ts';
import type { LocatedHeading } from './heading-paths.ts';
import { findFences, toPlainMarkdown } from './markdown-text.ts';
import { type Cut, splitText } from './split-text.ts';

/**
 * Cuts a document's text by the rules of its type, and gives each chunk its form for search. A text that would have too many chunks is cut
 * only by paragraphs and sentences, which makes the fewest.
 */
export function cutDocument(text: string, contentType: string | undefined, headings: LocatedHeading[], size: ChunkSize): Cut[] {
  const cuts = cutByType(text, contentType, headings, size);
  return cuts.length > maxChunks ? splitText(text, size).map((piece) => ({ ...piece, context: '', plain: piece.text })) : cuts;
}

function cutByType(text: string, contentType: string | undefined, headings: LocatedHeading[], size: ChunkSize): Cut[] {
  switch (contentType) {
    case 'text/csv':
      return cutCsv(text, size);
    case 'application/json':
      return cutJson(text, size);
    case 'text/markdown':
      return cutMarkdown(text, headings, size);
    default:
      return cutProse(text, headings, size);
  }
}

function cutMarkdown(text: string, headings: LocatedHeading[], size: ChunkSize): Cut[] {
  const fences = findFences(text);
  return cutProse(text, headings, size).map((cut) => {
    const fence = lastWhere(fences, ({ start }) => start < cut.start);
    return { ...cut, plain: toPlainMarkdown(cut.text, fence && cut.start < fence.end ? fence : undefined) };
  });
}
