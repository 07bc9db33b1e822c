import type { ProcessPool } from '../../sandbox/process-pool.ts';
import { TaskFailure } from '../../sandbox/protocol.ts';
import { explainTextFailure } from '../../text-failure.ts';
import { type EmbedModel, usualChunk } from '../embed-models.ts';
import { localE5 } from './name.ts';

/** Of one text: the longest that the service takes has sixteen parts. */
const timeoutMs = 120_000;

/**
 * The local sentence model, in processes of its own. Each call puts one text at a time into the pool. So a search waits for at most one text
 * of each other call, not for whole documents.
 */
export function createE5Model(pool: ProcessPool): EmbedModel {
  return {
    name: localE5.model,
    dimensions: localE5.dimensions,
    // In nearly all languages texts of this length are within the model's 512 tokens.
    chunkCharacters: usualChunk.chunkCharacters,
    textsPerCall: 8,
    async embed(texts, signal) {
      const vectors: number[][] = [];
      for (const text of texts) vectors.push(await embedOne(pool, text, signal));
      return vectors;
    },
  };
}

async function embedOne(pool: ProcessPool, text: string, signal: AbortSignal): Promise<number[]> {
  try {
    if (pool.problem !== null) throw new TaskFailure('unavailable', pool.problem);
    return await pool.run<number[]>('embed', { text }, { timeoutMs, signal });
  } catch (error) {
    if (!(error instanceof TaskFailure)) throw error;
    throw explainTextFailure(error, { done: 'embedded', timeoutMs, retryableCode: 'embed_failed' });
  }
}
