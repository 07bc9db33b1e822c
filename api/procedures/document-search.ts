import type { Logger } from 'pino';
import type { AiClient } from '../../ai/client.ts';
import { ApiError } from '../../contract/api-error.ts';
import { contract } from '../../contract/index.ts';
import { searchDocuments } from '../../domain/search/search-documents.ts';
import { getWorkspace } from '../../domain/workspaces/workspace.ts';
import type { ApiDeps } from '../deps.ts';
import { toSearchResult } from '../presenters/document.ts';
import { procedure, type RequestInfo } from '../procedure.ts';

/** How long the query's embedding may take. */
const embedTimeoutMs = 10_000;

/** `documents.search`: limits how often a user searches, and embeds the query with the AI service unless only words are compared. */
export function documentSearch({ config, db, getPlan, ai, limiters, embeddingPrice }: ApiDeps) {
  return procedure(contract.documents.search, async ({ input, caller, request, log, authorize }) => {
    const workspace = await getWorkspace(db, input.workspaceId);
    await authorize(workspace.organization_id);
    await limiters.searches.consume(caller.userId, request.setHeader);
    const mode = input.mode ?? config.searches.defaultMode;
    const search = {
      db,
      getPlan,
      price: mode === 'lexical' ? ('free' as const) : await embeddingPrice(),
      embed: (query: string) => embedQuery(ai, query, { request, log }),
      onUnsettled: (err: unknown, searchId: string) => log.warn({ err, searchId }, 'the charge of a search could not be settled'),
    };
    const { model, chunks } = await searchDocuments(search, { workspace, query: input.query, mode, limit: input.limit });
    return { model, results: chunks.map(toSearchResult) };
  });
}

/** Embeds a query. Throws SERVICE_UNAVAILABLE if the AI service fails, or takes too long. */
async function embedQuery(
  ai: AiClient,
  query: string,
  { request, log }: { request: RequestInfo; log: Logger },
): Promise<{ model: string; vector: number[] }> {
  try {
    const signal = AbortSignal.any([request.signal, AbortSignal.timeout(embedTimeoutMs)]);
    const { model, vectors } = await ai.embed({ texts: [query], signal, requestId: request.requestId });
    const [vector] = vectors;
    if (!vector) throw new Error('the AI service returned no vector');
    return { model, vector };
  } catch (error) {
    log.warn({ err: error }, 'a query could not be embedded');
    throw new ApiError('SERVICE_UNAVAILABLE', { message: 'The AI service could not embed the query.' });
  }
}
