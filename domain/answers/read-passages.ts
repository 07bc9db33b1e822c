import { sql } from 'kysely';
import type { Db } from '../../db/connect.ts';
import type { Outline } from '../../db/schema.ts';
import { pageAt } from '../chunking/cut-chunks.ts';
import { inWorkspace } from '../documents/document.ts';
import type { FoundChunk } from '../search/find-chunks.ts';

/** How much of a document is read before and after a passage, in characters: a quote may begin in one chunk and end in the next. */
const margin = 300;
/** The maximum length that the AI service takes. Only models with large chunks reach it. */
const maxCharacters = 8_000;

/** A chunk that a search found, with the document's text around it. */
export interface Passage {
  /** The id of the chunk. */
  id: string;
  documentId: string;
  documentName: string;
  /** The document's own text from `start` on, in characters. It differs from the chunk's text if that is part of a table. */
  text: string;
  start: number;
  /** That text with some characters before and after it, from `aroundStart` on. */
  around: string;
  aroundStart: number;
  /** The page that it begins on; null for kinds that have no pages. */
  page: number | null;
  /** The headings that it begins under. */
  headings: string[];
  /** Whether text recognition has read one of its pages. */
  recognized: boolean;
  /** The pages and headings of the document. */
  outline: Outline;
  /** How surely each page was recognized; null for pages that were not. */
  ocrConfidence: (number | null)[] | null;
}

/**
 * Reads the positions of chunks in the texts of their documents, in the order of the search. Leaves out chunks that cannot be cited, because
 * they are gone, or their positions are unknown: the document was extracted again since, with another text there.
 */
export async function readPassages(db: Db, chunks: FoundChunk[]): Promise<Passage[]> {
  const ids = chunks.map(({ id }) => id);
  // Of one moment, and the outline once for each document: a long one has thousands of headings.
  const { rows } = await sql<Omit<Passage, 'outline' | 'recognized'> & { end: number; outline: Outline | null }>`
    select chunk.id, chunk.document_id as "documentId", document.name as "documentName", chunk.text_start as start, chunk.text_end as end,
      substr(document_text.text, chunk.text_start + 1, least(chunk.text_end - chunk.text_start, ${maxCharacters})) as text,
      greatest(chunk.text_start - ${margin}, 0) as "aroundStart",
      substr(document_text.text, greatest(chunk.text_start - ${margin}, 0) + 1,
        chunk.text_end - greatest(chunk.text_start - ${margin}, 0) + ${margin}) as around,
      chunk.page, coalesce(chunk.headings, '{}') as headings, extracted_ocr_confidence as "ocrConfidence",
      case when row_number() over (partition by chunk.document_id order by chunk.id) = 1 then document_text.outline end as outline
    from chunk
    join document on document.id = chunk.document_id
    join document_text on document_text.document_id = chunk.document_id
    where chunk.id = any(${ids}::text[]) and ${inWorkspace} and chunk.text_start is not null
      and (document.extracted_at <= document.indexed_at
        or substr(document_text.text, chunk.text_start + 1, chunk.text_end - chunk.text_start) = chunk.text)
    order by array_position(${ids}::text[], chunk.id)
  `.execute(db);
  const outlines = new Map(rows.flatMap(({ documentId, outline }) => (outline ? [[documentId, outline]] : [])));
  return rows.flatMap(({ end, ...row }) => {
    const outline = outlines.get(row.documentId);
    return outline ? [{ ...row, outline, recognized: isRecognized({ ...row, outline }, row.start, end) }] : [];
  });
}

/** Whether text recognition has read a page of a part of the text: such a page has a confidence. */
export function isRecognized({ outline, ocrConfidence }: Pick<Passage, 'outline' | 'ocrConfidence'>, start: number, end: number): boolean {
  const [first, last] = [start, Math.max(start, end - 1)].map((position) => pageAt(outline, position) ?? 1) as [number, number];
  return ocrConfidence?.slice(first - 1, last).some((confidence) => confidence !== null) ?? false;
}
