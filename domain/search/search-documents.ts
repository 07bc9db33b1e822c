import type { SearchMode } from '../../contract/document-search.ts';
import { cancelOnAbort } from '../../db/cancel-on-abort.ts';
import type { Db, Transaction } from '../../db/connect.ts';
import { addFact } from '../../db/facts.ts';
import type { GetPlan } from '../billing/plan.ts';
import { chargeSearch, refundSearch, settleSearch } from '../credits/search-charge.ts';
import type { DocumentFilter } from '../documents/document-filter.ts';
import { findDocumentScope } from '../documents/document-scope.ts';
import type { WorkspaceRow } from '../workspaces/workspace.ts';
import { type FoundChunk, findChunks } from './find-chunks.ts';
import { type IndexKind, isSameKind } from './index-kind.ts';
import { readSearchedIndex } from './searched-index.ts';

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

/** What a lexical search names as its model: it embeds nothing. */
const lexicalModel = 'bm25';

/** What a search found, best first, and the model that embedded its query; `bm25` if none did. */
export interface Found {
  model: string;
  chunks: FoundChunk[];
}

/**
 * Searches a workspace by meaning, by words, or by both. By meaning or both, it charges one credit before the query is embedded, unless
 * embeddings are free, and refunds it if the search fails; it throws LIMIT_REACHED without credits. A search by words embeds nothing, and
 * costs nothing.
 */
export async function searchDocuments(deps: SearchDeps, search: Search): Promise<Found> {
  if (!deps.isCharged) return await find(deps, search);
  const { db, getPlan, onUnsettled } = deps;
  const searchId = await chargeSearch(db, getPlan, search.workspace.organization_id);
  // If the process dies, or the charge cannot be settled here, the sweep refunds it.
  const leaveToSweep = (error: unknown) => onUnsettled(error, searchId);
  try {
    const found = await find(deps, search);
    await settleSearch(db, searchId).catch(leaveToSweep);
    return found;
  } catch (error) {
    await refundSearch(db, searchId).catch(leaveToSweep);
    throw error;
  }
}

/**
 * All statements see one moment: documents that are indexed again, or deleted, meanwhile are found as they were. If the workspace was switched to
 * another index while the query was embedded, it is embedded once more.
 */
async function find(deps: SearchDeps, search: Search, mayEmbedAgain = true): Promise<Found> {
  const { db, embed, signal } = deps;
  const { workspace, index, query, mode, limit, filter, byDocument } = search;
  const embedded = mode === 'lexical' ? undefined : await embed(query, index);
  const read = async (trx: Transaction) => {
    const searched = await readSearchedIndex(trx, workspace.id);
    if (mayEmbedAgain && embedded && index && searched && !isSameKind(index, searched)) return { switchedTo: searched };
    const scope = filter && (await findDocumentScope(trx, workspace.id, filter));
    const words = mode === 'semantic' ? undefined : query;
    const startedAt = performance.now();
    const { path, chunks } = await findChunks(trx, { workspaceId: workspace.id, query: words, embedded, limit, scope, byDocument });
    return { path, chunks, seconds: (performance.now() - startedAt) / 1_000 };
  };
  const snapshot = db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only');
  const found = await snapshot.execute((trx) => cancelOnAbort(db, trx, signal, () => read(trx)));
  if ('switchedTo' in found) return await find(deps, { ...search, index: found.switchedTo }, false);
  addFact(db, { what: 'search scanned', path: found.path, seconds: found.seconds });
  return { model: embedded?.model ?? lexicalModel, chunks: found.chunks };
}
