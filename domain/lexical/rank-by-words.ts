import { sql } from 'kysely';
import type { Db } from '../../db/connect.ts';
import type { LentBytes } from '../../db/lent-bytes.ts';
import type { Candidate } from '../chunks/candidate.ts';
import { keepBest } from '../chunks/keep-best.ts';
import type { DocumentScope } from '../documents/document-scope.ts';
import { type Rest, ScanPace } from '../scan-pace.ts';
import { ChunkScores } from './chunk-scores.ts';
import { postingLength, readFrequency, readIndex, readLength } from './postings.ts';
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
/** About how many bytes of postings a row brings: V8 collects larger strings with its old generation alone, which delays others. */
const bytesPerRow = 32_768;

const [space, minus, zero] = [0x20, 0x2d, 0x30];

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

/** A chunk with its BM25, and the number of the postings that it was scored by: another one once its document is indexed again. */
export type ScoredCandidate = Candidate & { score: number; number: number };

/** Chunks ranked by BM25, best first. */
export interface RankedByWords {
  best: ScoredCandidate[];
  /** Whether some of the best are left out, because their document was deleted or indexed again since. */
  isStale: boolean;
  /** Scores any chunk of the workspace by the number of its document's postings: 0 for one that has no term of the query. */
  scoreOf(number: number, index: number): number;
  /** Gives back what holds the scores. Whoever fails before need not. */
  release(): void;
}

/** Postings of a term. The counts are those of the term and of the workspace in each of its rows. */
interface TermRow {
  frequency: number;
  chunks: number;
  terms: number;
  /** Of each document its number and postings, all of them parted by spaces; a document may come several times. */
  documents: LentBytes;
}

/**
 * Ranks the chunks of a workspace by BM25 of the query's terms, of which a chunk needs one. Frequencies, counts and the average length are
 * those of the workspace, whichever documents are searched: a chunk scores the same. Reads the postings of these terms only. A document
 * that has no postings yet is not found.
 */
export async function rankByWords(db: Db, query: WordQuery): Promise<RankedByWords> {
  const { workspaceId, rest } = query;
  const scores = new ChunkScores();
  const pace = new ScanPace(workspaceId, rest);
  for (const row of await readTerms(db, query)) await addScores(scores, row, pace);
  const ranked = await findBest(scores, query, pace);
  const ids = await findDocumentIds(db, workspaceId, ranked);
  const best = ranked.flatMap((candidate) => {
    const documentId = ids.get(candidate.number);
    return documentId === undefined ? [] : { ...candidate, documentId };
  });
  return {
    best,
    isStale: best.length < ranked.length,
    scoreOf: (number, index) => scores.scoreOf(number, index),
    release: () => scores.release(),
  };
}

/**
 * Reads the postings of the query's terms in one statement, so that all counts are of the same moment. The terms are counted before their
 * postings are collected: those that are left out take no memory. A term comes in several rows, each for a range of documents, because
 * ranges cost Postgres nothing and there are never more than asked for. They come in order, so that of chunks with equal scores those of
 * the first documents are found. `offset 0` keeps Postgres from computing the bound for each posting.
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
    select frequency, documents::bpchar, total.chunks, total.terms
    from (
      select term, frequency, lowest, width, sum(frequency) over (order by frequency, term) as postings,
        row_number() over (order by frequency, term) as place
      from (
        select term, (sum(octet_length(postings)) / ${sql.lit(postingLength)})::int as frequency, min(document_number) as lowest,
          (max(document_number) - min(document_number)) / (1 + sum(octet_length(postings)) / ${sql.lit(bytesPerRow)}) + 1 as width
        from posting where ${ofWorkspace} and term = any(${keys}::bigint[])
        group by term
      ) as by_term
    ) as counted
    cross join lateral (
      select case when counted.postings > ${sql.lit(mostPostings)} then (
        select min(document_number) from (
          select document_number, sum(octet_length(postings)) over (order by document_number desc) as characters from posting where ${ofTerm}
        ) as latest where characters <= ${sql.lit(mostPostings * postingLength)}
      ) end as first
      offset 0
    ) as bound
    cross join lateral (
      select string_agg(document_number || ' ' || postings, ' ') as documents, (document_number - counted.lowest) / counted.width as range
      from posting where ${ofTerm} and (bound.first is null or document_number >= bound.first)
      group by range
    ) as read
    cross join (
      select sum(chunk_count)::int as chunks, sum(term_count)::float8 as terms from lexical_document where workspace_id = ${workspaceId}
    ) as total
    where place = 1 or counted.postings <= ${sql.lit(mostPostings)}
    order by place, range
  `.execute(db);
  return rows;
}

/** Adds what a term contributes to the scores of chunks. */
async function addScores(scores: ChunkScores, term: TermRow, pace: ScanPace): Promise<void> {
  const { documents } = term;
  const scorePosting = createPostingScorer(term);
  for (let at = documents.start; at < documents.end; ) {
    at = addSlice(scores, documents, { at, scorePosting, pace });
    if (at < documents.end) await pace.next();
  }
  documents.release();
}

/** What a posting adds to its chunk's score: BM25 by how often the term occurs in the chunk, and by how many terms the chunk has. */
type PostingScorer = (frequency: number, length: number) => number;

function createPostingScorer({ frequency: chunksWithTerm, chunks, terms }: TermRow): PostingScorer {
  const rarity = Math.log(1 + (chunks - chunksWithTerm + 0.5) / (chunksWithTerm + 0.5));
  const averageLength = terms / chunks;
  return (frequency, length) => (rarity * frequency * (k1 + 1)) / (frequency + k1 * (1 - b + (b * length) / averageLength));
}

/** Adds what stands from a position on, as long as the slice lasts. Returns where the next one begins. */
function addSlice(
  scores: ChunkScores,
  { bytes, end }: LentBytes,
  { at: start, scorePosting, pace }: { at: number; scorePosting: PostingScorer; pace: ScanPace },
): number {
  for (let at = start; at < end; ) {
    const first = findSpace(bytes, at, end, 1) + 1;
    const last = findSpace(bytes, first, end, postingLength);
    const chunks = readIndex(bytes, last - postingLength) + 1;
    const offset = scores.reserve(readNumber(bytes, at, first - 1), chunks);
    const { scores: sums } = scores;
    for (let posting = first; posting < last; posting += postingLength) {
      const score = scorePosting(readFrequency(bytes, posting), readLength(bytes, posting));
      sums[offset + readIndex(bytes, posting)] = (sums[offset + readIndex(bytes, posting)] as number) + score;
    }
    at = last + 1;
    if (pace.isOver((last - first) / postingLength)) return at;
  }
  return end;
}

/** Where the next space is, of those which are a multiple of `step` away; the end if there is none. */
function findSpace(bytes: Uint8Array, start: number, end: number, step: number): number {
  let at = start;
  while (at < end && bytes[at] !== space) at += step;
  return at;
}

function readNumber(bytes: Uint8Array, start: number, end: number): number {
  const isNegative = bytes[start] === minus;
  let number = 0;
  for (let at = isNegative ? start + 1 : start; at < end; at += 1) number = number * 10 + (bytes[at] as number) - zero;
  return isNegative ? -number : number;
}

type NumberedChunk = Omit<ScoredCandidate, 'documentId'>;

/** The best chunks, or the best of each document, with the numbers of their documents. */
async function findBest(
  scores: ChunkScores,
  { count, byDocument }: Pick<WordQuery, 'count' | 'byDocument'>,
  pace: ScanPace,
): Promise<NumberedChunk[]> {
  const best = keepBest(count);
  for (let place = 0; place < scores.documents; place += 1) {
    const { number, start, end } = scores.at(place);
    if (pace.isOver(end - start)) await pace.next();
    const first = byDocument ? findHighest(scores.scores, start, end) : start;
    const last = byDocument ? first + 1 : end;
    for (let at = first; at < last; at += 1) {
      const score = scores.scores[at] as number;
      if (score > 0 && best.wants(score)) best.offer(score, String(number), at - start);
    }
  }
  return best.ranked().map(({ documentId, index, score }) => ({ number: Number(documentId), index, score }));
}

/** Where the first of the highest scores is. */
function findHighest(scores: Float64Array, start: number, end: number): number {
  let highest = start;
  for (let at = start + 1; at < end; at += 1) if ((scores[at] as number) > (scores[highest] as number)) highest = at;
  return highest;
}

/** The ids of the documents with these postings, by their numbers. Those that were deleted or indexed again since are not among them. */
export async function findDocumentIds(db: Db, workspaceId: string, chunks: { number: number }[]): Promise<Map<number, string>> {
  if (chunks.length === 0) return new Map();
  const rows = await db
    .selectFrom('lexical_document')
    .select(['number', 'document_id'])
    .where('number', 'in', [...new Set(chunks.map(({ number }) => number))])
    .where('workspace_id', '=', workspaceId)
    .execute();
  return new Map(rows.map(({ number, document_id }) => [number, document_id]));
}
