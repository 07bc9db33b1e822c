import { sql } from 'kysely';
import type { Db } from '../../db/connect.ts';
import type { Candidate } from '../chunks/candidate.ts';
import { keepBest } from '../chunks/keep-best.ts';
import type { DocumentScope } from '../documents/document-scope.ts';
import { type Rest, ScanPace } from '../scan-pace.ts';
import { postingLength, readPostings } from './postings.ts';
import { termKeyOf, workspaceKeyOf } from './term-keys.ts';
import { queryTermsOf } from './terms.ts';

/** How much a term's repetitions count, and how much a chunk's length: the usual values of BM25. */
const [k1, b] = [1.2, 0.75];
/** Further terms of a long query are not looked for. */
const mostTerms = 64;
/**
 * A query reads no more postings. If its terms have more together, the commonest, which tell least, are left out; if the rarest alone has
 * more, those of the latest documents are read.
 */
const mostPostings = 1_000_000;

export interface WordQuery {
  workspaceId: string;
  query: string;
  /** How many chunks to return at most. */
  count: number;
  /** The documents that are searched; all of the workspace if undefined. */
  scope?: DocumentScope | undefined;
  /** Rank only the best chunk of each document. */
  byDocument?: boolean | undefined;
  /** Called after each slice of a scan. */
  rest?: Rest | undefined;
}

/** A chunk with its BM25. */
export type ScoredCandidate = Candidate & { score: number };

/** Chunks ranked by BM25, best first. */
export interface RankedByWords {
  best: ScoredCandidate[];
  /** Scores any chunks of the workspace, in their order: 0 for one that has no term of the query. */
  scoreAll(chunks: Candidate[]): Promise<number[]>;
}

/** The scores of a document's chunks, by their indexes. */
type ChunkScores = number[];

interface TermRow {
  frequency: number;
  chunks: number;
  terms: number;
  /** Of each document its number and postings, all of them parted by spaces; a document may come several times. Null if none is searched. */
  documents: string | null;
}

/**
 * Ranks the chunks of a workspace by BM25 of the query's terms, of which a chunk needs one. Frequencies, counts and the average length are
 * those of the workspace, whichever documents are searched: a chunk scores the same. Reads the postings of these terms only. A document
 * that has no postings yet is not found.
 */
export async function rankByWords(db: Db, query: WordQuery): Promise<RankedByWords> {
  const { workspaceId, rest } = query;
  const scores = new Map<string, ChunkScores>();
  const pace = new ScanPace(workspaceId, rest);
  for (const row of await readTerms(db, query)) await addScores(scores, row, pace);
  return {
    best: await nameDocuments(db, workspaceId, await findBest(scores, query, pace)),
    async scoreAll(chunks) {
      const numbers = await findNumbers(db, workspaceId, chunks);
      return chunks.map(({ documentId, index }) => scores.get(numbers.get(documentId) ?? '')?.[index] ?? 0);
    },
  };
}

/**
 * The postings of the query's terms, in one statement: the counts are those of the same moment. The terms are counted before their postings
 * are collected, so that those which are left out take no memory. `offset 0` keeps Postgres from looking for the bound once for each posting.
 */
async function readTerms(db: Db, { workspaceId, query, scope }: WordQuery): Promise<TermRow[]> {
  const keys = queryTermsOf(query).slice(0, mostTerms).map(termKeyOf);
  if (keys.length === 0 || scope?.named?.length === 0) return [];
  const ofWorkspace = sql`workspace_key = ${workspaceKeyOf(workspaceId)}`;
  // The documents that are not searched are counted all the same.
  const isSearched =
    scope &&
    sql`and document_number in (
          select number from lexical_document where workspace_id = ${workspaceId} and ${scope.includes(sql`lexical_document.document_id`)}
        )`;
  const ofTerm = sql`${ofWorkspace} and posting.term = counted.term ${isSearched ?? sql``}`;
  const { rows } = await sql<TermRow>`
    select frequency, documents, total.chunks, total.terms
    from (
      select term, frequency, sum(frequency) over (order by frequency, term) as postings,
        row_number() over (order by frequency, term) as place
      from (
        select term, (sum(length(postings)) / ${sql.lit(postingLength)})::int as frequency
        from posting where ${ofWorkspace} and term = any(${keys}::bigint[])
        group by term
      ) as by_term
    ) as counted
    cross join lateral (
      select case when counted.postings > ${sql.lit(mostPostings)} then (
        select min(document_number) from (
          select document_number, sum(length(postings)) over (order by document_number desc) as characters from posting where ${ofTerm}
        ) as latest where characters <= ${sql.lit(mostPostings * postingLength)}
      ) end as first
      offset 0
    ) as bound
    cross join lateral (
      select string_agg(document_number || ' ' || postings, ' ') as documents
      from posting where ${ofTerm} and (bound.first is null or document_number >= bound.first)
    ) as read
    cross join (
      select sum(chunk_count)::int as chunks, sum(term_count)::float8 as terms from lexical_document where workspace_id = ${workspaceId}
    ) as total
    where place = 1 or counted.postings <= ${sql.lit(mostPostings)}
  `.execute(db);
  return rows;
}

/** Adds what a term contributes to the scores of chunks, by the number of their document. */
async function addScores(scores: Map<string, ChunkScores>, term: TermRow, pace: ScanPace): Promise<void> {
  const length = term.documents?.length ?? 0;
  for (let at = 0; at < length; ) {
    at = addSlice(scores, term, at, pace);
    if (at < length) await pace.next();
  }
}

/** Adds what stands from a position on, as long as the slice lasts. Returns where the next one begins. */
function addSlice(scores: Map<string, ChunkScores>, term: TermRow, start: number, pace: ScanPace): number {
  const { frequency: chunksWithTerm, chunks, terms, documents } = term;
  const rarity = Math.log(1 + (chunks - chunksWithTerm + 0.5) / (chunksWithTerm + 0.5));
  const averageLength = terms / chunks;
  if (documents === null) return start;
  for (let at = start; at < documents.length; ) {
    const numberEnd = documents.indexOf(' ', at);
    const found = documents.indexOf(' ', numberEnd + 1);
    const end = found === -1 ? documents.length : found;
    const number = documents.slice(at, numberEnd);
    const chunkScores = scores.get(number) ?? [];
    scores.set(number, chunkScores);
    readPostings(documents, numberEnd + 1, end, (index, frequency, length) => {
      while (chunkScores.length <= index) chunkScores.push(0);
      const added = (rarity * frequency * (k1 + 1)) / (frequency + k1 * (1 - b + (b * length) / averageLength));
      chunkScores[index] = (chunkScores[index] as number) + added;
    });
    at = end + 1;
    if (pace.isOver((end - numberEnd) / postingLength)) return at;
  }
  return documents.length;
}

/** The best chunks, or the best of each document, with the numbers of their documents. */
async function findBest(
  scores: Map<string, ChunkScores>,
  { count, byDocument }: Pick<WordQuery, 'count' | 'byDocument'>,
  pace: ScanPace,
): Promise<ScoredCandidate[]> {
  const best = keepBest(count);
  const offer = (number: string, ofDocument: ChunkScores) => {
    const ofEach = byDocument ? keepBest(1) : best;
    for (const [index, score] of ofDocument.entries()) if (score > 0) ofEach.offer(score, number, index);
    if (byDocument) for (const { score, index } of ofEach.ranked()) best.offer(score, number, index);
  };
  for (const [number, ofDocument] of scores) {
    if (pace.isOver(ofDocument.length)) await pace.next();
    offer(number, ofDocument);
  }
  return best.ranked();
}

/** Gives candidates the ids of their documents instead of the numbers, and leaves out those whose document is gone. */
async function nameDocuments(db: Db, workspaceId: string, best: ScoredCandidate[]): Promise<ScoredCandidate[]> {
  if (best.length === 0) return [];
  const numbers = [...new Set(best.map(({ documentId }) => Number(documentId)))];
  const rows = await db
    .selectFrom('lexical_document')
    .select(['number', 'document_id'])
    .where('number', 'in', numbers)
    .where('workspace_id', '=', workspaceId)
    .execute();
  const ids = new Map(rows.map(({ number, document_id }) => [String(number), document_id]));
  return best.flatMap(({ documentId, ...candidate }) => {
    const id = ids.get(documentId);
    return id === undefined ? [] : { ...candidate, documentId: id };
  });
}

async function findNumbers(db: Db, workspaceId: string, chunks: Candidate[]): Promise<Map<string, string>> {
  if (chunks.length === 0) return new Map();
  const rows = await db
    .selectFrom('lexical_document')
    .select(['number', 'document_id'])
    .where('document_id', 'in', [...new Set(chunks.map(({ documentId }) => documentId))])
    .where('workspace_id', '=', workspaceId)
    .execute();
  return new Map(rows.map(({ number, document_id }) => [document_id, String(number)]));
}
