import type { Db } from '../../db/connect.ts';
import { addFact } from '../../db/facts.ts';
import type { Candidate } from '../chunks/candidate.ts';
import { readChunks, type ShownChunk } from '../chunks/read-chunks.ts';
import { searchChunks } from '../chunks/search-chunks.ts';
import { toUnitLength } from '../chunks/unit-vector.ts';
import type { DocumentScope } from '../documents/document-scope.ts';
import { rankByWords } from '../lexical/rank-by-words.ts';
import type { Rest } from '../scan-pace.ts';
import { fuseByRank, semanticWeightOf, worthOfPlace } from './rank-fusion.ts';

/** What a lexical search names as its model: it embeds nothing. */
export const lexicalModel = 'bm25';

/** Chunks may vanish between being ranked and being read. */
const spareCandidates = 20;
/** How much of each list is fused. */
const fusedDepth = 100;

/** A chunk that was found by its words, or by words and meaning. */
export interface RankedChunk extends ShownChunk {
  /** Cosine similarity; null if nothing was compared, or the chunk has a vector of another model. */
  score: number | null;
  /** BM25: 0 without any term of the query. Only scores of one search compare. */
  lexicalScore: number;
  /** From 1, in the order of the results. */
  rank: number;
}

export interface WordSearch {
  workspaceId: string;
  query: string;
  limit: number;
  /** The documents that are searched; all of the workspace if undefined. */
  scope?: DocumentScope | undefined;
  /** Find documents, each by its best chunk. */
  byDocument?: boolean | undefined;
  /** Called after each slice of a scan. */
  rest?: Rest | undefined;
}

/** The chunks of a workspace that score best by BM25, best first. Needs no vector. Chunks without any term of the query are not found. */
export async function searchByWords(db: Db, { limit, ...search }: WordSearch): Promise<RankedChunk[]> {
  const startedAt = performance.now();
  const { best, release } = await rankByWords(db, { ...search, count: limit + spareCandidates });
  release();
  addFact(db, { what: 'search scanned', path: 'lexical', seconds: (performance.now() - startedAt) / 1_000 });
  const scores = new Map(best.map((candidate) => [keyOf(candidate), candidate.score]));
  const chunks = await readChunks(db, search.workspaceId, best);
  return chunks
    .map((chunk) => ({ ...chunk, lexicalScore: scores.get(keyOf(candidateOf(chunk))) ?? 0 }))
    .sort((one, other) => other.lexicalScore - one.lexicalScore || (one.id < other.id ? -1 : 1))
    .slice(0, limit)
    .map((chunk, place) => ({ ...chunk, rank: place + 1 }));
}

/**
 * The chunks that are best by words and by meaning together, best first: the lists of both searches, fused by rank. By document the lists
 * are of documents, and each found one is shown by the chunk that counts most for it. The scores of both are exact for every chunk,
 * whichever list it came from.
 */
export async function searchByBoth(
  db: Db,
  { limit, model, vector, ...search }: WordSearch & { model: string; vector: number[] },
): Promise<RankedChunk[]> {
  const { workspaceId, scope, byDocument, rest } = search;
  const [lexical, semantic] = await Promise.all([
    rankByWords(db, { ...search, count: fusedDepth }),
    searchChunks(db, { workspaceId, model, vector, limit: fusedDepth, scope, byDocument, rest }),
  ]);
  const nearest = new Map(semantic.map((chunk) => [keyOf(candidateOf(chunk)), chunk]));
  const fused = fuse(
    [
      { candidates: lexical.best, weight: 1 },
      { candidates: semantic.map(candidateOf), weight: semanticWeightOf(model) },
    ],
    byDocument,
  ).slice(0, limit + spareCandidates);
  const onlyByWords = fused.filter((candidate) => !nearest.has(keyOf(candidate)));
  const read = await readChunks(db, workspaceId, onlyByWords, { model, vector: toUnitLength(vector) });
  const byKey = new Map([...nearest.values(), ...read].map((chunk) => [keyOf(candidateOf(chunk)), chunk]));
  const chunks = fused.flatMap((candidate) => byKey.get(keyOf(candidate)) ?? []).slice(0, limit);
  const lexicalScores = await lexical.scoreAll(chunks.map(candidateOf));
  lexical.release();
  return chunks.map((chunk, place) => ({ ...chunk, lexicalScore: lexicalScores[place] ?? 0, rank: place + 1 }));
}

/** Fuses lists of chunks, or of documents that have a chunk each: of a document in both lists, the chunk that counts more is kept. */
function fuse(lists: { candidates: Candidate[]; weight: number }[], byDocument = false): Candidate[] {
  const nameOf = (candidate: Candidate) => (byDocument ? candidate.documentId : keyOf(candidate));
  const shown = new Map<string, { candidate: Candidate; worth: number }>();
  for (const { candidates, weight } of lists)
    for (const [place, candidate] of candidates.entries()) {
      const worth = worthOfPlace(place, weight);
      const other = shown.get(nameOf(candidate));
      if (!other || worth > other.worth) shown.set(nameOf(candidate), { candidate, worth });
    }
  const names = fuseByRank(lists.map(({ candidates, weight }) => ({ keys: candidates.map(nameOf), weight })));
  return names.flatMap((name) => shown.get(name)?.candidate ?? []);
}

function candidateOf({ document_id, index }: ShownChunk): Candidate {
  return { documentId: document_id, index };
}

function keyOf({ documentId, index }: Candidate): string {
  return `${documentId} ${index}`;
}
