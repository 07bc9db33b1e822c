import { setImmediate as nextTurn } from 'node:timers/promises';
import { embedText, localDimensions, localEmbedModel } from '../embed/embed-text.ts';
import type { ProcessPool } from '../pool/process-pool.ts';
import { TaskFailure } from '../pool/protocol.ts';
import { ServiceError } from '../service-error.ts';
import type { Summary } from '../summarize/summarize-text.ts';
import type { Provider } from './provider.ts';

const summaryTimeoutMs = 30_000;

/** The deterministic provider that needs no key: extractive summaries in the pool, hashed embeddings in place. */
export function createLocalProvider(pool: ProcessPool): Provider {
  return {
    name: 'local',
    async summarize(text, maxSentences, signal) {
      try {
        return await pool.run<Summary>('summarize', { text, maxSentences }, { timeoutMs: summaryTimeoutMs, signal });
      } catch (error) {
        if (!(error instanceof TaskFailure)) throw error;
        throw new ServiceError(503, 'summary_failed', 'The text could not be summarized just now.', { cause: error });
      }
    },
    async embed(texts, signal) {
      const vectors: number[][] = [];
      for (const text of texts) {
        vectors.push(embedText(text));
        // A long batch must not keep the service from answering others.
        if (vectors.length % 4 === 0) await nextTurn();
        signal.throwIfAborted();
      }
      return { model: localEmbedModel, dimensions: localDimensions, vectors };
    },
  };
}
