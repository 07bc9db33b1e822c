import { sql } from 'kysely';
import type { Db } from '../../db/connect.ts';
import type { Outline } from '../../db/schema.ts';
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
  const { rows } = await sql<Omit<Passage, 'outline'>>`
    select chunk.id, chunk.document_id as "documentId", document.name as "documentName", chunk.text_start as start,
      substr(document_text.text, chunk.text_start + 1, least(chunk.text_end - chunk.text_start, ${maxCharacters})) as text,
      greatest(chunk.text_start - ${margin}, 0) as "aroundStart",
      substr(document_text.text, greatest(chunk.text_start - ${margin}, 0) + 1,
        chunk.text_end - greatest(chunk.text_start - ${margin}, 0) + ${margin}) as around,
      chunk.page, coalesce(chunk.headings, '{}') as headings, extracted_ocr_confidence as "ocrConfidence",
      -- A page has a confidence if text recognition has read it.
      exists (select from unnest(extracted_ocr_confidence[coalesce(chunk.page, 1):coalesce(chunk.page, 1) + coalesce(cardinality(chunk.page_breaks), 0)])
        as confidence where confidence is not null) as recognized
    from chunk
    join document on document.id = chunk.document_id
    join document_text on document_text.document_id = chunk.document_id
    where chunk.id = any(${ids}::text[]) and ${inWorkspace} and chunk.text_start is not null
      and (document.extracted_at <= document.indexed_at
        or substr(document_text.text, chunk.text_start + 1, chunk.text_end - chunk.text_start) = chunk.text)
    order by array_position(${ids}::text[], chunk.id)
  `.execute(db);
  const documentIds = [...new Set(rows.map(({ documentId }) => documentId))];
  const texts = db.selectFrom('document_text').select(['document_id', 'outline']).where('document_id', 'in', documentIds);
  const outlines = new Map(documentIds.length > 0 ? (await texts.execute()).map(({ document_id, outline }) => [document_id, outline]) : []);
  return rows.flatMap((row) => {
    const outline = outlines.get(row.documentId);
    return outline ? [{ ...row, outline }] : [];
  });
}
