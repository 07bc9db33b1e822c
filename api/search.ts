import type { Logger } from 'pino';
import { ApiError } from '../contract/api-error.ts';
import { inTransaction } from '../db/transaction.ts';
import { searchChunks } from '../domain/chunks/search-chunks.ts';
import { chargeCredits } from '../domain/credits/charge-credits.ts';
import { newId } from '../domain/ids.ts';
import { lockOrganization } from '../domain/locks.ts';
import type { WorkspaceRow } from '../domain/workspaces/get-workspace.ts';
import type { Caller } from './caller.ts';
import type { ApiDeps } from './deps.ts';
import { toSearchResult } from './presenters/document.ts';
import type { RequestInfo } from './procedure.ts';

/** How long the query's embedding may take (spec §8). */
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
 * Searches a workspace by meaning. Charges one credit unless embeddings are local (spec §8), once the query is embedded, so
 * that a search the AI service fails costs nothing. Throws TOO_MANY_REQUESTS, LIMIT_REACHED, SERVICE_UNAVAILABLE.
 */
export async function searchDocuments(deps: ApiDeps, search: Search) {
  const { workspace, request } = search;
  await deps.limiters.searches.consume(search.caller.userId, request.setHeader);
  const { model, vector } = await embed(deps, search);
  if (!(await deps.isEmbeddingLocal())) await charge(deps, workspace.organization_id);
  const results = await searchChunks(deps.db, { workspaceId: workspace.id, model, vector, limit: search.limit });
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

async function charge(deps: ApiDeps, organizationId: string): Promise<void> {
  await inTransaction(deps.db, async (trx) => {
    await lockOrganization(trx, organizationId);
    const plan = await deps.getPlan(trx, organizationId);
    const key = `search:${newId()}:charge`;
    const limit = plan && { plan: plan.plan, aiCredits: plan.limits.aiCredits };
    await chargeCredits(trx, { organizationId, key, credits: 1, jobId: null, reason: 'documents.search' }, limit);
  });
}
