import { cancelOnAbort } from '../../db/cancelable-client.ts';
import type { Db } from '../../db/connect.ts';
import type { GetPlan } from '../billing/plan.ts';
import { type FoundChunk, searchChunks } from '../chunks/search-chunks.ts';
import { chargeSearch, checkSearchCredit, refundSearch, settleSearch } from '../credits/search-charge.ts';
import type { WorkspaceRow } from '../workspaces/workspace.ts';
import type { EmbeddingPrice } from './embedding-price.ts';

export interface SearchDeps {
  db: Db;
  getPlan: GetPlan;
  /** What the embedding of the query costs now. */
  price: EmbeddingPrice;
  /** Embeds the query. What it throws is the error of the search. */
  embed(query: string): Promise<{ model: string; vector: number[] }>;
  /** Ends the search: it is refunded, and rejects with the signal's reason. */
  signal: AbortSignal;
  /** Is told of a charge that could be neither settled nor refunded: the sweep refunds it. */
  onUnsettled(error: unknown, searchId: string): void;
}

export interface Search {
  workspace: WorkspaceRow;
  query: string;
  /** How many chunks to find at most. */
  limit: number;
}

/**
 * Searches a workspace by meaning, and returns the nearest chunks, best first, with the model that compared them. Charges one credit
 * before the query is embedded, unless embeddings are free, and refunds it if the search fails. Throws LIMIT_REACHED without credits.
 */
export async function searchDocuments(deps: SearchDeps, search: Search): Promise<{ model: string; chunks: FoundChunk[] }> {
  const { organization_id: organizationId } = search.workspace;
  if (deps.price === 'charged') return await charged(deps, organizationId, () => find(deps, search));
  if (deps.price === 'unknown') await checkSearchCredit(deps.db, deps.getPlan, organizationId);
  return await find(deps, search);
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

async function find(
  { db, embed, signal }: SearchDeps,
  { workspace, query, limit }: Search,
): Promise<{ model: string; chunks: FoundChunk[] }> {
  const { model, vector } = await embed(query);
  const wanted = { workspaceId: workspace.id, model, vector, limit };
  return { model, chunks: await cancelOnAbort(signal, () => searchChunks(db, wanted)) };
}
