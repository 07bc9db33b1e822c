import type { Transaction } from '../../db/connect.ts';
import type { SearchPath } from '../../db/facts.ts';
import type { DocumentScope } from '../documents/document-scope.ts';
import { fuseScores, isFused, relevanceFilter } from './fused-score.ts';
import { nearestChunks } from './nearest-chunks.ts';
import { rankByWords } from './rank-by-words.ts';
import { readChunks, type ShownChunk } from './read-chunks.ts';
import { toUnitLength } from './unit-vector.ts';

/** How many chunks meaning and words propose each, if both are compared. */
const fusedDepth = 100;

export interface ChunkSearch {
  workspaceId: string;
  /** The text to compare by words. */
  query?: string | undefined;
  /** The query's vector, of any length, and the model that made it, to compare by meaning. */
  embedded?: { model: string; vector: ArrayLike<number> } | undefined;
  /** The maximum number of chunks, or of documents, to find. */
  limit: number;
  /** The documents to search; the whole workspace if undefined. */
  scope?: DocumentScope | undefined;
  /** Find documents, each by its best chunk. */
  byDocument?: boolean | undefined;
}

interface ChunksFound {
  path: SearchPath;
  chunks: FoundChunk[];
  /** The terms besides the query's own by which chunks were found. */
  nearTerms: string[];
}

export interface FoundChunk extends ShownChunk {
  /** Cosine similarity: 1 identical, 0 unrelated. Null without a comparison by meaning, or if the chunk's vector is of another model. */
  score: number | null;
  /** BM25: 0 without any term of the query; undefined if words were not compared. Scores of different searches are not comparable. */
  lexicalScore: number | undefined;
  /** The position in the results, from 1. */
  rank: number;
}

/**
 * Finds the best chunks of a workspace by meaning, by words, or by both, best first, and reports how vectors were compared. Fuses scores by
 * both, but ranks by words alone if the model is the local hash. By document, its best chunk represents each. Scores are exact, whether
 * meaning or words proposed a chunk. All statements of `trx` must see the same snapshot.
 */
export async function findChunks(trx: Transaction, search: ChunkSearch): Promise<ChunksFound> {
  const { workspaceId, query, embedded, scope, byDocument } = search;
  const limit = query !== undefined && embedded ? Math.max(fusedDepth, search.limit) : search.limit;
  if (scope?.named?.length === 0) return { path: 'exact', chunks: [], nearTerms: [] };
  const wanted = { workspaceId, limit, scope, byDocument };
  const comparison = embedded && { model: embedded.model, vector: toUnitLength(embedded.vector) };
  const isRanked = embedded && (query === undefined || isFused(embedded.model));
  const near = comparison && isRanked ? await nearestChunks(trx, { ...wanted, ...comparison }) : { path: 'lexical' as const, chunks: [] };
  const { chunks: worded, nearTerms, known } = await rankByWords(trx, { ...wanted, query: query ?? '' }, near.chunks);
  const lexicalScores = new Map(worded.map(({ documentId, index, score }) => [`${documentId} ${index}`, score]));
  const read = await readChunks(trx, { workspaceId, chunks: [...near.chunks, ...worded], comparison });
  const chunks = read.map((chunk) => ({
    ...chunk,
    lexicalScore: query === undefined ? undefined : (lexicalScores.get(`${chunk.document_id} ${chunk.index}`) ?? 0),
  }));
  const nameOf = ({ id, document_id: documentId }: ShownChunk) => (byDocument ? documentId : id);
  const best = rankBy(chunks, scoring(chunks, { query, known, model: isRanked && embedded.model }), nameOf).slice(0, search.limit);
  return { path: near.path, chunks: best.map((chunk, index) => ({ ...chunk, rank: index + 1 })), nearTerms };
}

type Unranked = Omit<FoundChunk, 'rank'>;

/** The score by which chunks are ranked; null leaves a chunk out. `model`: the one that compared their meaning, if that counts. */
function scoring(
  chunks: Unranked[],
  { query, known, model }: { query: string | undefined; known: number; model: string | false | undefined },
): (chunk: Unranked) => number | null {
  if (!model) return ({ lexicalScore }) => lexicalScore || null;
  if (query === undefined) return ({ score }) => score;
  const [isNear, fused] = [relevanceFilter(model, query), fuseScores(chunks, known)];
  return (chunk) => (isNear(chunk) ? fused(chunk) : null);
}

/** Sorts the chunks that have a score, best first, and keeps the best one of each name. */
function rankBy(chunks: Unranked[], scoreOf: (chunk: Unranked) => number | null, nameOf: (chunk: Unranked) => string): Unranked[] {
  const scored = chunks.flatMap((chunk) => {
    const score = scoreOf(chunk);
    return score === null ? [] : { chunk, score };
  });
  scored.sort((one, other) => other.score - one.score || (one.chunk.id < other.chunk.id ? -1 : 1));
  const seen = new Set<string>();
  return scored.map(({ chunk }) => chunk).filter((chunk) => seen.size < seen.add(nameOf(chunk)).size);
}
