import { sql } from 'kysely';
import type { Db } from '../../db/connect.ts';
import { inWorkspace } from '../documents/document.ts';
import type { FoundChunk } from '../search/find-chunks.ts';

/** How much of a document is read before and after a passage, in characters: a quote may begin in one chunk and end in the next. */
const margin = 300;
/** The AI service takes no longer ones; only models that ask for large chunks have them. */
const maxCharacters = 8_000;

/** A chunk that a search found, as it stands in the text of its document. */
export interface Passage {
  /** The id of the chunk. */
  id: string;
  documentId: string;
  documentName: string;
  /** The document's own text from `start` on, in characters: that of a table's chunk is another. */
  text: string;
  start: number;
  /** The same with a little before and after it, from `aroundStart` on. */
  around: string;
  aroundStart: number;
  /** The page that it begins on; null for kinds that have no pages. */
  page: number | null;
  /** Where each further page begins, in characters of the passage. */
  pageBreaks: number[];
  headings: string[];
  /** Whether text recognition has read it. */
  recognized: boolean;
}

/**
 * Reads where chunks stand in the texts of their documents, in the order of the search. Leaves out what cannot be cited: chunks whose
 * place is not known, since their document was indexed before places were, or extracted again since, and those that are gone.
 */
export async function readPassages(db: Db, chunks: FoundChunk[]): Promise<Passage[]> {
  const ids = chunks.map(({ id }) => id);
  // The confidence of text recognition is there for the pages that it has read.
  const { rows } = await sql<Passage>`
    select chunk.id, chunk.document_id as "documentId", document.name as "documentName", chunk.text_start as start,
      substr(document_text.text, chunk.text_start + 1, least(chunk.text_end - chunk.text_start, ${maxCharacters})) as text,
      greatest(chunk.text_start - ${margin}, 0) as "aroundStart",
      substr(document_text.text, greatest(chunk.text_start - ${margin}, 0) + 1,
        chunk.text_end - greatest(chunk.text_start - ${margin}, 0) + ${margin}) as around,
      chunk.page, coalesce(chunk.page_breaks, '{}') as "pageBreaks", coalesce(chunk.headings, '{}') as headings,
      extracted_ocr_confidence[coalesce(chunk.page, 1)] is not null as recognized
    from chunk
    join document on document.id = chunk.document_id
    join document_text on document_text.document_id = chunk.document_id
    where chunk.id = any(${ids}::text[]) and ${inWorkspace} and document.extracted_at <= document.indexed_at and chunk.text_start is not null
    order by array_position(${ids}::text[], chunk.id)
  `.execute(db);
  return rows;
}
