import { sql } from 'kysely';
import type { Transaction } from '../../db/connect.ts';
import type { DocumentScope } from '../documents/document-scope.ts';
import { Best } from './keep-best.ts';
import { findNearTerms, type RareWord } from './near-terms.ts';
import { workspaceKeyOf } from './postings.ts';
import { type QueryWord, type ReadQuery, readQuery } from './read-query.ts';
import { type ReadTerm, scoreDocuments, type TermCounts } from './score-documents.ts';
import type { ChunkKey } from './vector-query.ts';

/** The maximum number of terms, of which a word has two or three; further words of a long query are ignored. */
const maxTerms = 128;
/**
 * The maximum number of postings that a query reads besides those of its rarest term. The most common terms, which discriminate least, are
 * ignored.
 */
const maxPostings = 1_000_000;
/** A word in fewer than `fewChunks` chunks is also looked up by similar terms: for at most so many words, and with so many terms. */
const [fewChunks, maxRareWords, maxNearTerms] = [10, 4, 32];
/** The weight of a similar term, so that it ranks behind the word itself. */
const nearWeight = 0.25;

export interface WordQuery {
  workspaceId: string;
  query: string;
  /** The maximum number of chunks, or of documents, to find. */
  limit: number;
  /** The documents to search; the whole workspace if undefined. */
  scope?: DocumentScope | undefined;
  /** Find the best documents, by the best chunk of each. */
  byDocument?: boolean | undefined;
}

/** A chunk with its BM25 score. */
type ScoredChunk = ChunkKey & { score: number };

/** The results of a query, and the terms besides its own by which they were found: other spellings, and compounds. */
interface FoundByWords {
  chunks: ScoredChunk[];
  nearTerms: string[];
  /** The share of the query's words that any chunk of the workspace has: few, if it is in another language. */
  known: number;
}

/**
 * The best chunks of a workspace by BM25, each with at least one term of the query, followed by the chunks of `also` that have one.
 * Frequencies, counts and the average length are those of the whole workspace, so that a chunk's score does not depend on the scope.
 */
export async function rankByWords(trx: Transaction, query: WordQuery, also: ChunkKey[] = []): Promise<FoundByWords> {
  const { terms, known } = await readTerms(trx, query);
  if (terms.length === 0) return { chunks: [], nearTerms: [], known };
  const wanted = await numberChunks(trx, also);
  const best = new Best<{ number: number; index: number }>(query.limit);
  const others: ScoredChunk[] = [];
  scoreDocuments(terms, (number, indexes, scores) => {
    const scoreOf = (index: number) => scores[index] ?? 0;
    if (query.byDocument) {
      const highest = indexes.reduce((high, index) => (scoreOf(index) > scoreOf(high) ? index : high), indexes[0] ?? 0);
      best.offer(scoreOf(highest), { number, index: highest });
    } else for (const index of indexes) if (scoreOf(index) > best.least) best.offer(scoreOf(index), { number, index });
    for (const chunk of wanted.get(number) ?? []) if (scoreOf(chunk.index) > 0) others.push({ ...chunk, score: scoreOf(chunk.index) });
  });
  const ranked = best.ranked();
  const ids = await findDocumentIds(
    trx,
    ranked.map(({ item }) => item.number),
  );
  const chunks = ranked.map(({ score, item: { number, index } }) => ({ documentId: ids.get(number) ?? '', index, score }));
  const nearTerms = terms.filter(({ weight }) => weight === nearWeight).map(({ term }) => term);
  return { chunks: [...chunks, ...others], nearTerms, known };
}

type CountedTerm = TermCounts & { term: string; weight: number };

/** The query's terms that occur in the workspace, and terms near to its rare words, with their postings in the searched documents. */
async function readTerms(
  trx: Transaction,
  { workspaceId, query, scope }: WordQuery,
): Promise<{ terms: (ReadTerm & { term: string; weight: number })[]; known: number }> {
  const asked = readQuery(query);
  const terms = new Map([...asked.terms].slice(0, maxTerms));
  const words = asked.words.filter((word) => word.terms.every((term) => terms.has(term)));
  if (terms.size === 0 || scope?.named?.length === 0) return { terms: [], known: 0 };
  const key = workspaceKeyOf(workspaceId);
  const exact = await countTerms(trx, workspaceId, terms);
  const counted = [...exact, ...(await countNearTerms(trx, workspaceId, { ...asked, words }, exact))];
  let postings = 0;
  const read = counted.filter(({ frequency }, index) => {
    postings += frequency;
    return index === 0 || postings <= maxPostings;
  });
  const isSearched = scope
    ? sql`and document_number in (
        select number from lexical_document where workspace_id = ${workspaceId} and ${scope.includes(sql`lexical_document.document_id`)}
      )`
    : sql``;
  const { rows } = await sql<{ term: string; letters: string }>`
    select term, string_agg(case when part = 0 then document_number || postings else postings end, '' order by document_number, part) as letters
    from posting where workspace_key = ${key} and term = any(${read.map(({ term }) => term)}::text[]) ${isSearched}
    group by term
  `.execute(trx);
  const letters = new Map(rows.map((row) => [row.term, row.letters]));
  const wordTerms = wordsOfQuery(words, terms);
  const found = new Set(exact.map(({ term }) => term));
  const asWritten = wordTerms.filter((some) => some.some((term) => found.has(term))).length;
  // A word that is misspelt, or is a part of others, is known by a near term.
  const known = Math.min(1, (asWritten + counted.length - exact.length) / wordTerms.length);
  return { terms: read.map((term) => ({ ...term, letters: letters.get(term.term) ?? '' })), known };
}

/** The terms of each word of a query. Of Chinese and Japanese a term is a word. */
function wordsOfQuery(words: QueryWord[], terms: Map<string, number>): string[][] {
  const ofWords = new Set(words.flatMap((word) => word.terms));
  const alone = [...terms.keys()].filter((term) => !ofWords.has(term));
  return [...words.map((word) => word.terms), ...alone.map((term) => [term])];
}

/** Those of the terms that occur in the workspace, the rarest first. */
async function countTerms(trx: Transaction, workspaceId: string, weights: Map<string, number>): Promise<CountedTerm[]> {
  const { rows } = await sql<TermCounts & { term: string }>`
    select counted.*, total.* from (
      select term, sum(chunk_count)::int as frequency from posting
      where workspace_key = ${workspaceKeyOf(workspaceId)} and term = any(${[...weights.keys()]}::text[]) group by term
    ) as counted cross join (
      select sum(chunk_count)::int as chunks, sum(term_count)::float8 as terms from lexical_document where workspace_id = ${workspaceId}
    ) as total order by frequency, term
  `.execute(trx);
  return rows.map((row) => ({ ...row, weight: weights.get(row.term) ?? 0 }));
}

/** The commonest terms that are near to rare words of the query, the rarest first. */
async function countNearTerms(trx: Transaction, workspaceId: string, asked: ReadQuery, exact: CountedTerm[]): Promise<CountedTerm[]> {
  const frequencies = new Map(exact.map(({ term, frequency }) => [term, frequency]));
  const rare: RareWord[] = asked.words.flatMap(({ word, terms }) => {
    const frequency = Math.max(...terms.map((term) => frequencies.get(term) ?? 0));
    return frequency < fewChunks ? { word, terms, isUnknown: frequency === 0 } : [];
  });
  if (rare.length === 0) return [];
  const near = await findNearTerms(trx, workspaceId, rare.slice(0, maxRareWords), asked.languages[0]);
  const others = near.filter((term) => !frequencies.has(term));
  return (await countTerms(trx, workspaceId, new Map(others.map((term) => [term, nearWeight])))).slice(-maxNearTerms);
}

/** The chunks, grouped by the numbers of their documents. */
async function numberChunks(trx: Transaction, chunks: ChunkKey[]): Promise<Map<number, ChunkKey[]>> {
  if (chunks.length === 0) return new Map();
  const rows = await trx
    .selectFrom('lexical_document')
    .select(['number', 'document_id'])
    .where('document_id', 'in', [...new Set(chunks.map(({ documentId }) => documentId))])
    .execute();
  return new Map(rows.map((row) => [row.number, chunks.filter(({ documentId }) => documentId === row.document_id)]));
}

async function findDocumentIds(trx: Transaction, numbers: number[]): Promise<Map<number, string>> {
  if (numbers.length === 0) return new Map();
  const rows = await trx.selectFrom('lexical_document').select(['number', 'document_id']).where('number', 'in', numbers).execute();
  return new Map(rows.map((row) => [row.number, row.document_id]));
}
