import type { SearchMode } from '../../contract/document-search.ts';
import { addFact } from '../../db/add-fact.ts';
import { cancelOnAbort } from '../../db/cancel-on-abort.ts';
import type { Db, Transaction } from '../../db/connect.ts';
import type { GetPlan } from '../billing/plan.ts';
import { openCharge, refundCharge, settleCharge } from '../credits/open-charge.ts';
import type { DocumentFilter } from '../documents/document-filter.ts';
import { findDocumentScope } from '../documents/document-scope.ts';
import type { WorkspaceRow } from '../workspaces/workspace.ts';
import { type FoundChunk, findChunks } from './find-chunks.ts';
import { type IndexKind, isSameKind } from './index-kind.ts';
import { readSearchedIndex } from './searched-index.ts';

export interface SearchDeps {
  /** The id of the search, by which its charge is known. */
  id?: string;
  db: Db;
  getPlan: GetPlan;
  /** The user or the API key that searches. */
  actorId?: string;
  /** Whether the embedding of the query costs a credit. */
  isCharged: boolean;
  /** Embeds the query by the model of an index, if that still exists. An error ends the search with it. */
  embed(query: string, index: IndexKind | undefined): Promise<{ model: string; vector: number[] }>;
  /**
   * Ranks the texts of chunks by a model, in searches by meaning and words together. Returns their indexes, the best first; undefined if the
   * model does not respond, which leaves the order as it is.
   */
  rerank?: ((query: string, texts: string[]) => Promise<number[] | undefined>) | undefined;
  /** Aborts the search: it is refunded, and rejects with the signal's reason. */
  signal: AbortSignal;
  /** Called for a charge that could be neither settled nor refunded; the sweep refunds it. */
  onUnsettled(error: unknown, searchId: string): void;
}

export interface Search {
  workspace: WorkspaceRow;
  /** The index that the workspace was searched with when the request began. */
  index: IndexKind | undefined;
  query: string;
  mode: SearchMode;
  /** The maximum number of chunks, or of documents, to find. */
  limit: number;
  /** A filter on the documents to search; all if undefined. */
  filter?: DocumentFilter | undefined;
  /** Find documents, each by its best chunk. */
  byDocument?: boolean | undefined;
}

/** How many chunks are ranked by a model. */
const rerankedDepth = 50;

/** The model name that a lexical search reports, since it embeds nothing. */
const lexicalModel = 'bm25';

/** The results of a search, best first, and the model that embedded its query; `bm25` if none did. */
interface Found {
  model: string;
  chunks: FoundChunk[];
  /** The terms besides the query's own by which words were found, for highlights. */
  nearTerms: string[];
}

/**
 * Searches a workspace by meaning, by words, or by both. A search by words costs nothing. The others charge one credit before the query is
 * embedded, unless embeddings are free, and refund it if the search fails. Throws LIMIT_REACHED without credits. A query without a letter or
 * digit finds nothing, at no cost; only where nothing is indexed it is embedded, to name the model.
 */
export async function searchDocuments(deps: SearchDeps, search: Search): Promise<Found> {
  if (!/[\p{L}\p{N}]/u.test(search.query)) return { model: await nameModel(deps, search), chunks: [], nearTerms: [] };
  if (!deps.isCharged) return await find(deps, search);
  const { id, db, getPlan, actorId, onUnsettled } = deps;
  const { organization_id: organizationId, id: workspaceId } = search.workspace;
  const searchId = await openCharge(db, getPlan, 'search', { id, organizationId, workspaceId, actorId: actorId ?? null });
  // If the process dies, or the charge cannot be settled here, the sweep refunds it.
  const leaveToSweep = (error: unknown) => onUnsettled(error, searchId);
  try {
    const found = await find(deps, search);
    await settleCharge(db, 'search', searchId).catch(leaveToSweep);
    return found;
  } catch (error) {
    await refundCharge(db, 'search', searchId).catch(leaveToSweep);
    throw error;
  }
}

/** The model by which a search would embed its query. */
async function nameModel({ embed }: SearchDeps, { index, mode, query }: Search): Promise<string> {
  return mode === 'lexical' ? lexicalModel : (index ?? (await embed(query, index))).model;
}

/**
 * All statements see the same snapshot, so documents that are indexed again or deleted meanwhile are found as they were. If the workspace
 * was switched to another index while the query was embedded, the query is embedded once more.
 */
async function find(deps: SearchDeps, search: Search, mayEmbedAgain = true): Promise<Found> {
  const { db, embed, signal } = deps;
  const rerank = search.mode === 'hybrid' ? deps.rerank : undefined;
  const { workspace, index, query, mode, limit, filter, byDocument } = search;
  const embedded = mode === 'lexical' ? undefined : await embed(query, index);
  const read = async (trx: Transaction) => {
    const searched = await readSearchedIndex(trx, workspace.id);
    if (mayEmbedAgain && embedded && index && searched && !isSameKind(index, searched)) return { switchedTo: searched };
    const scope = filter && (await findDocumentScope(trx, workspace.id, filter));
    const words = mode === 'semantic' ? undefined : query;
    const startedAt = performance.now();
    const { path, chunks, nearTerms } = await findChunks(trx, {
      workspaceId: workspace.id,
      query: words,
      embedded,
      limit: rerank ? Math.max(limit, rerankedDepth) : limit,
      scope,
      byDocument,
    });
    return { path, chunks, nearTerms, seconds: (performance.now() - startedAt) / 1_000 };
  };
  const snapshot = db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only');
  const found = await snapshot.execute((trx) => cancelOnAbort(db, trx, signal, () => read(trx)));
  if ('switchedTo' in found) return await find(deps, { ...search, index: found.switchedTo }, false);
  addFact(db, { what: 'search scanned', path: found.path, seconds: found.seconds });
  const chunks = rerank ? await rankAnew(query, found.chunks, rerank) : found.chunks;
  return { model: embedded?.model ?? lexicalModel, chunks: chunks.slice(0, limit), nearTerms: found.nearTerms };
}

async function rankAnew(query: string, chunks: FoundChunk[], rerank: NonNullable<SearchDeps['rerank']>): Promise<FoundChunk[]> {
  const texts = chunks.map(({ text }) => text);
  const order = chunks.length > 1 ? await rerank(query, texts) : undefined;
  const ranked = order?.flatMap((index) => chunks[index] ?? []);
  return ranked?.map((chunk, index) => ({ ...chunk, rank: index + 1 })) ?? chunks;
}
