/**
 * Postings record for a term and a document in which chunks the term occurs, how often, and how many terms each chunk has. A posting is
 * three letters, one for each of these numbers, since the Postgres driver reads a string fastest.
 */
import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { languageOf } from '../../base/text/languages.ts';
import type { Transaction } from '../../db/connect.ts';
import type { DocumentRow } from '../documents/document.ts';
import { eachTerm } from './terms.ts';

/** The letter for 0. Lower characters are the digits of document numbers between postings. */
export const firstLetter = 0x100;
/** The number of letters of a posting. */
export const postingLength = 3;
/** Larger frequencies and lengths are stored as these; further terms of a chunk are left out. */
const [maxFrequency, maxChunkLength] = [255, 4_095];
/** The maximum length of a row, which a database index must be able to hold. */
const lettersPerRow = 300 * postingLength;

/**
 * The key of a workspace in the index of postings: 64 bits of a cryptographic hash of its id, so that nobody can choose it. The chance that
 * two of a million workspaces share a key is 1 in 40 million. A string, because a number has fewer bits.
 */
export function workspaceKeyOf(workspaceId: string): string {
  return createHash('sha256').update(workspaceId).digest().readBigInt64BE().toString();
}

/** Collects the postings of a document, whose chunks are added in order. */
export class Postings {
  readonly #ofTerms = new Map<string, string>();
  #chunkCount = 0;
  #termCount = 0;

  /** Adds the next chunks, which are read in the language of most of them. */
  add(texts: string[]): void {
    const language = languageOfAll(texts);
    for (const text of texts) {
      const frequencies = new Map<string, number>();
      let length = 0;
      eachTerm(
        text,
        (term) => {
          if (length === maxChunkLength) return;
          length += 1;
          frequencies.set(term, (frequencies.get(term) ?? 0) + 1);
        },
        language,
      );
      for (const [term, frequency] of frequencies)
        this.#ofTerms.set(term, (this.#ofTerms.get(term) ?? '') + toLetters(this.#chunkCount, Math.min(frequency, maxFrequency), length));
      this.#chunkCount += 1;
      this.#termCount += length;
    }
  }

  /** Stores the postings of a document that has none. Needs the document's lock. */
  async store(trx: Transaction, { id, organization_id, workspace_id }: DocumentRow): Promise<void> {
    const workspaceKey = workspaceKeyOf(workspace_id);
    const terms = [...this.#ofTerms.keys()];
    const { rows } = await sql<{ number: number }>`
      insert into lexical_document (document_id, organization_id, workspace_id, chunk_count, term_count, workspace_key, terms)
      values (${id}, ${organization_id}, ${workspace_id}, ${this.#chunkCount}, ${this.#termCount}, ${workspaceKey}, ${terms}::text[])
      returning number
    `.execute(trx);
    const parts = [...this.#ofTerms].flatMap(([term, letters]) => toParts(term, letters));
    // Rows are inserted in the order of the index, so that adjacent entries are written together.
    await sql`
      insert into posting (workspace_key, term, document_number, part, chunk_count, postings)
      select ${workspaceKey}, term, ${rows[0]?.number}, part, length(postings) / ${sql.lit(postingLength)}, postings
      from unnest(
        ${parts.map(({ term }) => term)}::text[], ${parts.map(({ part }) => part)}::int[], ${parts.map(({ letters }) => letters)}::text[]
      ) as stored (term, part, postings)
      order by term collate "C", part
    `.execute(trx);
  }
}

/** How many of the chunks, and how much of each, tell the language. */
const [sampleChunks, sampleLength] = [5, 100];

function languageOfAll(texts: string[]): string | undefined {
  const step = Math.ceil(texts.length / sampleChunks);
  return languageOf(
    texts
      .filter((_, index) => index % step === 0)
      .map((text) => text.slice(0, sampleLength))
      .join('\n'),
  );
}

function toLetters(index: number, frequency: number, length: number): string {
  return String.fromCharCode(firstLetter + index, firstLetter + frequency, firstLetter + length);
}

/** The rows of a term. A common term has several. */
function toParts(term: string, letters: string): { term: string; part: number; letters: string }[] {
  return Array.from({ length: Math.ceil(letters.length / lettersPerRow) }, (_, part) => ({
    ...{ term, part },
    letters: letters.slice(part * lettersPerRow, (part + 1) * lettersPerRow),
  }));
}
