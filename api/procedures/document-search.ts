import type { Logger } from 'pino';
import { type AiClient, AiServiceError, type CallOwner, patiently } from '../../adapters/ai-service/client.ts';
import { ApiError } from '../../contract/api-error.ts';
import { contract } from '../../contract/index.ts';
import type { RouteInput } from '../../contract/route.ts';
import type { DocumentFilter } from '../../domain/documents/document-filter.ts';
import { newId } from '../../domain/ids.ts';
import { createHighlighter } from '../../domain/search/highlights.ts';
import type { IndexKind } from '../../domain/search/index-kind.ts';
import { searchDocuments } from '../../domain/search/search-documents.ts';
import { readSearchedIndex } from '../../domain/search/searched-index.ts';
import { getWorkspace } from '../../domain/workspaces/workspace.ts';
import { callerId, checkStill, isKey } from '../caller.ts';
import type { ApiDeps } from '../deps.ts';
import { toSearchResult } from '../presenters/document.ts';
import { clientLeft, procedure } from '../procedure.ts';

type InputFilter = NonNullable<RouteInput<typeof contract.documents.search>['filter']>;

/** The time limit for embedding the query. */
const embedTimeoutMs = 10_000;
/** The time limit for ranking passages anew. A search that exceeds it keeps its order. */
const rerankTimeoutMs = 3_000;
/** The time limit while the AI service is unreachable. */
export const patienceMs = 2_500;

const retryAfterSeconds = 2;

/**
 * `documents.search`: limits how often a user searches, and embeds the query with the AI service unless only words are compared. A search
 * ends when its client leaves, and is refused if the caller lost access while it waited for a model.
 */
export function documentSearch({ config, db, sessionsDb, getPlan, ai, limiters, costsCredit }: ApiDeps) {
  return procedure(contract.documents.search, async ({ input, caller, request, log, authorize }) => {
    const workspace = await getWorkspace(db, input.workspaceId);
    await authorize(workspace.organization_id, workspace.id);
    // A key's own rate bounds its searches too: it may search on behalf of many users.
    if (!isKey(caller)) await limiters.searches.consume(caller.userId, request.setHeader);
    const mode = input.mode ?? config.searches.defaultMode;
    const { signal, requestId } = request;
    const [id, actorId] = [newId(), callerId(caller)];
    const owner: CallOwner = { purpose: 'search', purposeId: id, workspaceId: workspace.id, actorId };
    const asking = { signal, requestId, tenant: workspace.organization_id, owner, log };
    const place = { organizationId: workspace.organization_id, workspaceId: workspace.id, permission: 'document:read' } as const;
    const stillMay = async <T>(result: T): Promise<T> => {
      await checkStill(sessionsDb, caller, place);
      return result;
    };
    const rerank = async (query: string, texts: string[]) => stillMay(await rerankTexts(ai, query, texts, asking));
    const search = {
      ...{ id, db, getPlan, signal, actorId },
      embed: async (query: string, index: IndexKind | undefined) => stillMay(await embedQuery(ai, { query, index }, asking)),
      rerank: config.searches.reranks ? rerank : undefined,
      onUnsettled: (err: unknown, searchId: string) => log.warn({ err, searchId }, 'the charge of a search could not be settled'),
    };
    try {
      const index = await readSearchedIndex(db, workspace.id);
      const isCharged = mode !== 'lexical' && (await costsCredit(index?.model));
      const { query, limit, groupBy, include = [] } = input;
      const wanted = { workspace, index, query, mode, limit, filter: toFilter(input.filter), byDocument: groupBy === 'document' };
      const { model, chunks, nearTerms } = await searchDocuments({ ...search, isCharged }, wanted);
      const highlight = include.includes('highlights') ? createHighlighter(query, nearTerms) : undefined;
      const citation = include.includes('citation');
      return { model, results: chunks.map((chunk) => toSearchResult(chunk, { citation, highlights: highlight?.(chunk.text) })) };
    } catch (error) {
      throw signal.aborted ? clientLeft() : error;
    }
  });
}

/** The filter of a search or a question, as the domain takes it. */
export function toFilter(filter: InputFilter = {}): DocumentFilter | undefined {
  if (Object.keys(filter).length === 0) return undefined;
  const { documentIds: ids, createdFrom, createdTo, indexedFrom, indexedTo, ...rest } = filter;
  const toDate = (time: string | undefined) => (time === undefined ? undefined : new Date(time));
  return { ...rest, ids, created: [toDate(createdFrom), toDate(createdTo)], indexed: [toDate(indexedFrom), toDate(indexedTo)] };
}

/** The error of a request that the AI service failed, with the wait that the provider of its model asked for. */
export function unavailable(message: string, cause: unknown): ApiError {
  const askedMs = (cause instanceof AiServiceError && cause.retryAfterMs) || 0;
  return new ApiError('SERVICE_UNAVAILABLE', { message, retryAfterSeconds: Math.max(retryAfterSeconds, Math.ceil(askedMs / 1_000)) });
}

/** The request for which the AI service is called. */
export interface Asking {
  signal: AbortSignal;
  requestId: string;
  tenant: string;
  owner: CallOwner;
  log: Logger;
}

/** Ranks texts anew by the model of the AI service. Undefined if it fails or takes too long; throws the signal's reason. */
export async function rerankTexts(
  ai: AiClient,
  query: string,
  documents: string[],
  { signal: searching, requestId, tenant, owner, log }: Asking,
): Promise<number[] | undefined> {
  try {
    const signal = AbortSignal.any([searching, AbortSignal.timeout(rerankTimeoutMs)]);
    return await ai.rerank({ query, documents, signal, requestId, tenant, owner });
  } catch (error) {
    searching.throwIfAborted();
    log.warn({ err: error }, 'the passages of a search could not be ranked anew');
    return undefined;
  }
}

/**
 * Embeds a query. Waits for a rate limit of the model's provider, if there is time. Throws SERVICE_UNAVAILABLE if the AI service fails,
 * refuses the query, or takes too long; and the signal's reason.
 */
export async function embedQuery(
  ai: AiClient,
  { query, index }: { query: string; index: IndexKind | undefined },
  { signal: searching, requestId, tenant, owner, log }: Asking,
): Promise<{ model: string; vector: number[] }> {
  try {
    const signal = AbortSignal.any([searching, AbortSignal.timeout(embedTimeoutMs)]);
    const embed = () => ai.embed({ texts: [query], index, signal, requestId, tenant, isAwaited: true, owner, patienceMs });
    const { model, vectors } = await patiently(embed, { until: Date.now() + embedTimeoutMs, signal });
    const [vector] = vectors;
    if (!vector) throw new Error('the AI service returned no vector');
    return { model, vector };
  } catch (error) {
    searching.throwIfAborted();
    log.warn({ err: error }, 'a query could not be embedded');
    throw unavailable('The AI service could not embed the query.', error);
  }
}
