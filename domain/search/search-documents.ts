import type { SearchMode } from '../../contract/document-search.ts';
import { cancelOnAbort } from '../../db/cancel-on-abort.ts';
import type { Db, Transaction } from '../../db/connect.ts';
import { collectFacts, tellFacts } from '../../db/facts.ts';
import type { GetPlan } from '../billing/plan.ts';
import { type FoundChunk, searchChunks } from '../chunks/search-chunks.ts';
import { chargeSearch, refundSearch, settleSearch } from '../credits/search-charge.ts';
import type { DocumentFilter } from '../documents/document-filter.ts';
import { type DocumentScope, findDocumentScope } from '../documents/document-scope.ts';
import { type IndexKind, isSameKind } from '../reindex/index-kind.ts';
import { readSearchedIndex } from '../reindex/searched-index.ts';
import type { WorkspaceRow } from '../workspaces/workspace.ts';
import { lexicalModel, type RankedChunk, searchByBoth, searchByWords } from './search-by-words.ts';

export interface SearchDeps {
  db: Db;
  getPlan: GetPlan;
  /** Whether the embedding of the query costs a credit. */
  isCharged: boolean;
  /** Embeds the query by the model of an index, if it is there still. What it throws is the error of the search. */
  embed(query: string, index: IndexKind | undefined): Promise<{ model: string; vector: number[] }>;
  /** Ends the search: it is refunded, and rejects with the signal's reason. */
  signal: AbortSignal;
  /** Is told of a charge that could be neither settled nor refunded: the sweep refunds it. */
  onUnsettled(error: unknown, searchId: string): void;
}

export interface Search {
  workspace: WorkspaceRow;
  /** What the workspace was searched with a moment ago. */
  index: IndexKind | undefined;
  query: string;
  mode: SearchMode;
  /** How many chunks to find at most, or documents. */
  limit: number;
  /** Which documents are searched; all if undefined. */
  filter?: DocumentFilter | undefined;
  /** Find documents, each by its best chunk. */
  byDocument?: boolean | undefined;
}

/** What a search found, best first, and the model that embedded its query; `bm25` if none did. */
export interface Found {
  model: string;
  chunks: Array<FoundChunk | RankedChunk>;
}

/**
 * Searches a workspace by meaning, by words, or by both. By meaning or both, it charges one credit before the query is embedded, unless
 * embeddings are free, and refunds it if the search fails; it throws LIMIT_REACHED without credits. A search by words embeds nothing, and
 * costs nothing.
 */
export async function searchDocuments(deps: SearchDeps, search: Search): Promise<Found> {
  const find = () =>
    inOneIndex(deps, search, (index) => (search.mode === 'lexical' ? findByWords(deps, search) : findNearest(deps, search, index)));
  return deps.isCharged ? await charged(deps, search.workspace.organization_id, find) : await find();
}

/** A search that costs a credit. If the process dies, or the charge cannot be settled here, the sweep refunds it. */
async function charged<T>({ db, getPlan, onUnsettled }: SearchDeps, organizationId: string, find: () => Promise<T>): Promise<T> {
  const searchId = await chargeSearch(db, getPlan, organizationId);
  const leaveToSweep = (error: unknown) => onUnsettled(error, searchId);
  try {
    const found = await find();
    await settleSearch(db, searchId).catch(leaveToSweep);
    return found;
  } catch (error) {
    await refundSearch(db, searchId).catch(leaveToSweep);
    throw error;
  }
}

/** Searches again if the workspace was switched to another index meanwhile: the vectors and postings that it began with are gone. */
async function inOneIndex(
  deps: SearchDeps,
  { workspace, index: known }: Search,
  find: (index: IndexKind | undefined) => Promise<Found>,
): Promise<Found> {
  for (let index = known; ; ) {
    const found = await find(index);
    const now = await cancelable(deps, (trx) => readSearchedIndex(trx, workspace.id));
    if (!index || !now || isSameKind(index, now)) return found;
    index = now;
  }
}

async function findByWords(deps: SearchDeps, search: Search): Promise<Found> {
  const { workspace, query, limit, byDocument } = search;
  const findChunks = async (trx: Transaction) =>
    searchByWords(trx, { workspaceId: workspace.id, query, limit, byDocument, scope: await findScope(trx, search) });
  return { model: lexicalModel, chunks: await cancelable(deps, findChunks) };
}

async function findNearest(deps: SearchDeps, search: Search, index: IndexKind | undefined): Promise<Found> {
  const { workspace, query, mode, limit, byDocument } = search;
  const { model, vector } = await deps.embed(query, index);
  const findChunks = async (trx: Transaction): Promise<Found['chunks']> => {
    const wanted = { workspaceId: workspace.id, model, vector, limit, byDocument, scope: await findScope(trx, search) };
    return await (mode === 'hybrid' ? searchByBoth(trx, { ...wanted, query }) : searchChunks(trx, wanted));
  };
  return { model, chunks: await cancelable(deps, findChunks) };
}

/** Reads that end when the search does. */
async function cancelable<T>({ db, signal }: SearchDeps, read: (trx: Transaction) => Promise<T>): Promise<T> {
  const transaction = db.transaction().setAccessMode('read only');
  return await transaction.execute(async (trx) => {
    collectFacts(trx);
    const found = await cancelOnAbort(db, trx, signal, () => read(trx));
    tellFacts(db, trx);
    return found;
  });
}

async function findScope(db: Db, { workspace, filter }: Search): Promise<DocumentScope | undefined> {
  return filter && (await findDocumentScope(db, workspace.id, filter));
}
