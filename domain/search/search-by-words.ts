import type { Db } from '../../db/connect.ts';
import { addFact } from '../../db/facts.ts';
import type { Candidate } from '../chunks/candidate.ts';
import { readChunks, type ShownChunk } from '../chunks/read-chunks.ts';
import { searchChunks } from '../chunks/search-chunks.ts';
import { toUnitLength } from '../chunks/unit-vector.ts';
import type { DocumentScope } from '../documents/document-scope.ts';
import { findDocumentIds, type RankedByWords, rankByWords, type ScoredCandidate } from '../lexical/rank-by-words.ts';
import type { Rest } from '../scan-pace.ts';
import { fuseByRank, semanticWeightOf, worthOfPlace } from './rank-fusion.ts';

/** What a lexical search names as its model: it embeds nothing. */
export const lexicalModel = 'bm25';

/** Chunks may vanish between being ranked and being read. */
const spareCandidates = 20;
/** How often a search is made at most while the documents that it finds are indexed again. It is rare that one does not suffice. */
const mostTries = 5;
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

/** What a search found, and whether documents were indexed again while it did: then texts may be others than those that were scored. */
interface Found {
  chunks: RankedChunk[];
  isStale: boolean;
}

/** The chunks of a workspace that score best by BM25, best first. Needs no vector. Chunks without any term of the query are not found. */
export async function searchByWords(db: Db, search: WordSearch): Promise<RankedChunk[]> {
  return await untilCurrent(() => findByWords(db, search));
}

async function findByWords(db: Db, { limit, ...search }: WordSearch): Promise<Found> {
  const startedAt = performance.now();
  const ranked = await rankByWords(db, { ...search, count: limit + spareCandidates });
  ranked.release();
  addFact(db, { what: 'search scanned', path: 'lexical', seconds: (performance.now() - startedAt) / 1_000 });
  const scores = new Map(ranked.best.map(({ number, index, score }) => [`${number} ${index}`, score]));
  const read = await readChunks(db, search.workspaceId, ranked.best);
  const chunks = read
    .map((chunk) => ({ ...chunk, lexicalScore: scores.get(`${chunk.postings_number} ${chunk.index}`) ?? 0 }))
    .filter(({ lexicalScore }) => lexicalScore > 0)
    .sort((one, other) => other.lexicalScore - one.lexicalScore || (one.id < other.id ? -1 : 1))
    .slice(0, limit)
    .map((chunk, place) => ({ ...chunk, rank: place + 1 }));
  return { chunks, isStale: await isStale(db, search.workspaceId, ranked, { wanted: ranked.best, read }) };
}

/**
 * The chunks that are best by words and by meaning together, best first: the lists of both searches, fused by rank. By document the lists
 * are of documents, and each found one is shown by the chunk that counts most for it. The scores of both are exact for every chunk,
 * whichever list it came from.
 */
export async function searchByBoth(db: Db, search: WordSearch & { model: string; vector: number[] }): Promise<RankedChunk[]> {
  return await untilCurrent(() => findByBoth(db, search));
}

async function findByBoth(db: Db, { limit, model, vector, ...search }: WordSearch & { model: string; vector: number[] }): Promise<Found> {
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
  const onlyByWords = lexical.best.filter((candidate) => fused.includes(candidate) && !nearest.has(keyOf(candidate)));
  const read = await readChunks(db, workspaceId, onlyByWords, { model, vector: toUnitLength(vector) });
  const byKey = new Map([...nearest.values(), ...read].map((chunk) => [keyOf(candidateOf(chunk)), chunk]));
  const chunks = fused
    .flatMap((candidate) => byKey.get(keyOf(candidate)) ?? [])
    .slice(0, limit)
    .map((chunk, place) => ({
      ...chunk,
      lexicalScore: lexical.scoreOf(chunk.postings_number ?? Number.NaN, chunk.index),
      rank: place + 1,
    }));
  lexical.release();
  return { chunks, isStale: await isStale(db, workspaceId, lexical, { wanted: onlyByWords, read: [...read, ...chunks] }) };
}

/** Searches again if documents were indexed again meanwhile. One that is indexed without end is left out at last. */
async function untilCurrent(find: () => Promise<Found>): Promise<RankedChunk[]> {
  for (let left = mostTries; ; left -= 1) {
    const { chunks, isStale } = await find();
    if (!isStale || left === 1) return chunks;
  }
}

/**
 * Whether documents were indexed again, or deleted, since their postings were read: one that was read has other postings now, or a chunk
 * that was wanted is not there, and neither are its postings. An older version of the service leaves the postings of an earlier index:
 * those chunks are just missing.
 */
async function isStale(
  db: Db,
  workspaceId: string,
  { best, isStale: isIncomplete }: RankedByWords,
  { wanted, read }: { wanted: ScoredCandidate[]; read: ShownChunk[] },
): Promise<boolean> {
  const numbers = new Map(best.map(({ documentId, number }) => [documentId, number]));
  const isOther = ({ document_id: id, postings_number: number }: ShownChunk) => numbers.has(id) && numbers.get(id) !== number;
  if (isIncomplete || read.some(isOther)) return true;
  const found = new Set(read.map((chunk) => keyOf(candidateOf(chunk))));
  const missing = wanted.filter((candidate) => !found.has(keyOf(candidate)));
  const there = await findDocumentIds(db, workspaceId, missing);
  return missing.some(({ number }) => !there.has(number));
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
