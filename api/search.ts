import type { Logger } from 'pino';
import { ApiError } from '../contract/api-error.ts';
import { searchChunks } from '../domain/chunks/search-chunks.ts';
import { chargeSearch, checkSearchCredit, refundSearch, settleSearch } from '../domain/credits/search-charge.ts';
import type { WorkspaceRow } from '../domain/workspaces/workspace.ts';
import type { Caller } from './caller.ts';
import type { ApiDeps } from './deps.ts';
import { toSearchResult } from './presenters/document.ts';
import type { RequestInfo } from './procedure.ts';

/** How long the query's embedding may take. */
const embedTimeoutMs = 10_000;

export interface Search {
  workspace: WorkspaceRow;
  caller: Caller;
  request: RequestInfo;
  log: Logger;
  query: string;
  limit: number;
}

/**
 * Searches a workspace by meaning. Charges one credit, unless embeddings are local, before the query is embedded, and gives it back
 * if the search fails. Throws TOO_MANY_REQUESTS, LIMIT_REACHED, SERVICE_UNAVAILABLE.
 */
export async function searchDocuments(deps: ApiDeps, search: Search) {
  const { workspace, request } = search;
  await deps.limiters.searches.consume(search.caller.userId, request.setHeader);
  const price = await deps.embeddingPrice();
  if (price === 'charged') return await paid(deps, search, () => find(deps, search));
  if (price === 'unknown') await checkSearchCredit(deps.db, deps.getPlan, workspace.organization_id);
  return await find(deps, search);
}

/** A search that costs a credit. What a process that dies leaves charged, and what cannot be settled here, is refunded by the sweep. */
async function paid<T>({ db, getPlan }: ApiDeps, { workspace, log }: Search, find: () => Promise<T>): Promise<T> {
  const searchId = await chargeSearch(db, getPlan, workspace.organization_id);
  const leftToSweep = (err: unknown) => log.warn({ err, searchId }, 'the charge of a search could not be settled');
  try {
    const found = await find();
    await settleSearch(db, searchId).catch(leftToSweep);
    return found;
  } catch (error) {
    await refundSearch(db, searchId).catch(leftToSweep);
    throw error;
  }
}

async function find(deps: ApiDeps, search: Search) {
  const { model, vector } = await embed(deps, search);
  const results = await searchChunks(deps.db, { workspaceId: search.workspace.id, model, vector, limit: search.limit });
  return { model, results: results.map(toSearchResult) };
}

async function embed(deps: ApiDeps, { query, request, log }: Search): Promise<{ model: string; vector: number[] }> {
  try {
    const signal = AbortSignal.any([request.signal, AbortSignal.timeout(embedTimeoutMs)]);
    const { model, vectors } = await deps.ai.embed({ texts: [query], signal, requestId: request.requestId });
    const [vector] = vectors;
    if (!vector) throw new Error('the AI service answered no vector');
    return { model, vector };
  } catch (error) {
    log.warn({ err: error }, 'a query could not be embedded');
    throw new ApiError('SERVICE_UNAVAILABLE', { message: 'The AI service could not embed the query.' });
  }
}
