import type { Db } from '../../db/connect.ts';
import type { Candidate } from '../chunks/candidate.ts';
import { keepBest } from '../chunks/keep-best.ts';
import type { DocumentScope } from '../documents/document-scope.ts';
import { type Rest, ScanPace } from '../scan-pace.ts';
import { addScores } from './add-scores.ts';
import { ChunkScores } from './chunk-scores.ts';
import { readPostings } from './read-postings.ts';

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

/**
 * Ranks the chunks of a workspace by BM25 of the query's terms, of which a chunk needs one. Frequencies, counts and the average length are
 * those of the workspace, whichever documents are searched: a chunk scores the same. Reads the postings of these terms only. A document
 * that has no postings yet is not found.
 */
export async function rankByWords(db: Db, query: WordQuery): Promise<RankedByWords> {
  const { workspaceId, rest } = query;
  const scores = new ChunkScores();
  const pace = new ScanPace(workspaceId, rest);
  for (const term of await readPostings(db, query)) await addScores(scores, term, pace);
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

type NumberedChunk = Omit<ScoredCandidate, 'documentId'>;

/** The best chunks, or the best of each document. Until their ids are known, the numbers of documents stand for them. */
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
