import { sql } from 'kysely';
import type { Transaction } from '../../db/connect.ts';
import type { DocumentRow } from '../documents/document.ts';
import { createPostingWriter, highestNumber, postingLength } from './postings.ts';
import { termKeyOf, workspaceKeyOf } from './term-keys.ts';
import { termsOf } from './terms.ts';

/** An entry of an index holds no more. */
const charactersPerRow = 300 * postingLength;
/** Further terms of a chunk are left out. A chunk of the usual size has a few hundred. */
const mostTermsPerChunk = highestNumber;

/**
 * Replaces a document's postings by those of its chunks, whose texts are given in their order, and notes that they are those of its index.
 * Needs the document's lock.
 */
export async function storePostings(trx: Transaction, { id, workspace_id }: DocumentRow, texts: string[]): Promise<void> {
  const { postings, termCount } = collectPostings(texts);
  const workspaceKey = workspaceKeyOf(workspace_id);
  // A trigger deletes its postings.
  await trx.deleteFrom('lexical_document').where('document_id', '=', id).execute();
  const terms = [...postings.keys()];
  const { rows } = await sql<{ number: number }>`
    insert into lexical_document (document_id, organization_id, workspace_id, indexed_at, chunk_count, term_count, workspace_key, terms)
    select id, organization_id, workspace_id, indexed_at, ${texts.length}, ${termCount}, ${workspaceKey}, ${`{${terms}}`}::bigint[]
    from document where id = ${id}
    returning number
  `.execute(trx);
  const number = rows[0]?.number;
  if (number === undefined || terms.length === 0) return;
  const parts = terms.flatMap((term) => toParts(term, postings.get(term) ?? ''));
  // In the order of the index, so that neighbors are written together.
  await sql`
    insert into posting (workspace_key, term, document_number, part, postings)
    select ${workspaceKey}, term, ${number}, part, postings
    from unnest(
      ${`{${parts.map(({ term }) => term)}}`}::bigint[], ${`{${parts.map(({ part }) => part)}}`}::int[], ${`{${parts.map((one) => one.postings)}}`}::text[]
    ) as stored (term, part, postings)
    order by term, part
  `.execute(trx);
}

/** The postings of a term, but for the last, which may still grow. */
interface Growing {
  postings: string;
  index: number;
  frequency: number;
}

/** The postings of each term of a document, by the term's key, and how many terms its chunks have, with repetitions. */
function collectPostings(texts: string[]): { postings: Map<number, string>; termCount: number } {
  const byTerm = new Map<string, Growing>();
  const writers: ((frequency: number) => string)[] = [];
  const finish = ({ postings, index, frequency }: Growing) => postings + (writers[index]?.(frequency) ?? '');
  let termCount = 0;
  for (const [index, text] of texts.entries()) {
    const terms = termsOf(text).slice(0, mostTermsPerChunk);
    termCount += terms.length;
    writers.push(createPostingWriter({ index, length: terms.length }));
    for (const term of terms) {
      const growing = byTerm.get(term);
      if (growing?.index === index) growing.frequency += 1;
      else if (!growing) byTerm.set(term, { postings: '', index, frequency: 1 });
      else [growing.postings, growing.index, growing.frequency] = [finish(growing), index, 1];
    }
  }
  const postings = new Map<number, string>();
  for (const [term, growing] of byTerm) postings.set(termKeyOf(term), finish(growing));
  return { postings, termCount };
}

interface Part {
  term: number;
  part: number;
  postings: string;
}

function toParts(term: number, postings: string): Part[] {
  const parts: Part[] = [];
  for (let start = 0; start < postings.length; start += charactersPerRow)
    parts.push({ term, part: parts.length, postings: postings.slice(start, start + charactersPerRow) });
  return parts;
}
