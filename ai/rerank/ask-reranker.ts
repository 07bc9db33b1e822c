import { z } from 'zod';
import type { RemoteModel } from '../../base/config/remote-models.ts';
import { askRemote } from '../remote-model.ts';
import { ServiceError } from '../service-error.ts';

/** Texts in the order in which they respond to a query, each by its index, the best first. */
interface Ranking {
  model: string;
  results: { index: number; relevance_score: number }[];
}

const timeoutMs = 10_000;
const response = z.object({ results: z.array(z.object({ index: z.int().min(0), relevance_score: z.number() })) });

/**
 * Ranks texts by a cross-encoder, in the form that Jina, Cohere, vLLM and others share: POST /rerank. Throws ServiceError 422 `no_reranker`
 * without a model; 502 if the model fails, or does not rank each text once; and as `askRemote`.
 */
export async function askReranker(remote: RemoteModel | null, query: string, documents: string[], signal: AbortSignal): Promise<Ranking> {
  if (!remote) throw new ServiceError(422, 'no_reranker', 'This deployment has no model that ranks texts.');
  const body = { query, documents, top_n: documents.length };
  const { results } = await askRemote(remote, '/rerank', body, response, { role: 'rerank', timeoutMs, signal, name: 'remote' });
  const ranked = new Set(results.map(({ index }) => index).filter((index) => index < documents.length));
  if (results.length !== documents.length || ranked.size !== documents.length) {
    const cause = new Error(`The remote model ranked ${ranked.size} of ${documents.length} texts.`);
    throw new ServiceError(502, 'remote_failed', 'The remote model could not serve the request.', { cause });
  }
  return { model: remote.model, results: results.toSorted((one, other) => other.relevance_score - one.relevance_score) };
}
