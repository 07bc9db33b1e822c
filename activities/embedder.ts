import type { AiClient, CallOptions, FloatEmbeddings } from '../ai/client.ts';
import { Semaphore } from '../concurrency/semaphore.ts';
import { JobFailure } from './job-failure.ts';

const textsPerCall = 32;
/** Embedded if there are no texts, since the result names the model even then. A single token for a remote model. */
const shortestText = 'a';

/**
 * Embeds the chunks of whole documents, with at most `concurrency` calls at a time for all attempts of this process
 * (`WORKER_EMBED_CALLS`). The calls of the attempt that asked first go first, so that its chunks are stored while those of the next
 * document are embedded.
 */
export class Embedder {
  private readonly ai: AiClient;
  private readonly calls: Semaphore;

  constructor(ai: AiClient, concurrency: number) {
    this.ai = ai;
    this.calls = new Semaphore(concurrency);
  }

  /**
   * Embeds any number of texts; one vector for each, in their order. Throws AiServiceError, the signal's reason, or a JobFailure if the
   * model changed between two calls. After a failure no further call is made.
   */
  async embedAll(texts: string[], { signal, requestId }: CallOptions & { signal: AbortSignal }): Promise<FloatEmbeddings> {
    const failed = new AbortController();
    const ends = AbortSignal.any([signal, failed.signal]);
    const calls: Promise<FloatEmbeddings>[] = [];
    const embedded = texts.length > 0 ? texts : [shortestText];
    for (let start = 0; start < embedded.length; start += textsPerCall) {
      const batch = embedded.slice(start, start + textsPerCall);
      calls.push(this.calls.run(() => this.ai.embedFloats({ texts: batch, signal: ends, requestId }), ends));
    }
    try {
      const joined = join(await Promise.all(calls));
      return texts.length > 0 ? joined : { ...joined, vectors: [] };
    } finally {
      failed.abort();
    }
  }
}

function join(batches: FloatEmbeddings[]): FloatEmbeddings {
  const { model = '', dimensions = 0 } = batches[0] ?? {};
  // Vectors of two models cannot be compared: another attempt embeds all texts with the new one.
  const changed = batches.some((batch) => batch.model !== model || batch.dimensions !== dimensions);
  if (changed) throw new JobFailure('model_changed', 'The embedding model changed during the job.', true);
  return { model, dimensions, vectors: batches.flatMap((batch) => batch.vectors) };
}
