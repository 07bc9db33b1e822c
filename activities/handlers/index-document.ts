import { maxChunks, splitText } from '../../domain/chunks/split-text.ts';
import { storeChunks } from '../../domain/chunks/store-chunks.ts';
import type { ActivityDeps } from '../deps.ts';
import { JobFailure } from '../job-failure.ts';
import { textOf } from './extract-document.ts';
import { getJobDocument, type Handler } from './handler.ts';

/** How many chunks are embedded by one call (spec §8). */
const embedBatch = 32;

/**
 * Indexes a document for search, extracting it first where it has no text. More than 2,000 chunks fail finally.
 * Result: `{ chunks, characters, model, dimensions }`.
 */
export const indexDocument: Handler = async (deps, job, signal) => {
  const document = await getJobDocument(deps, job);
  const { text, store } = await textOf(deps, document, job.id, signal);
  const texts = splitText(text);
  if (texts.length > maxChunks) {
    throw new JobFailure('too_many_chunks', `The document has more than ${maxChunks} chunks and cannot be indexed.`, false);
  }
  const { model, dimensions, vectors } = await embedAll(deps, texts, job.id, signal);
  const chunks = texts.map((chunk, index) => ({ text: chunk, embedding: vectors[index] ?? [] }));
  return {
    result: { chunks: chunks.length, characters: text.length, model, dimensions },
    async effects(trx) {
      await store(trx);
      await storeChunks(trx, document, model, chunks);
    },
  };
};

async function embedAll(deps: ActivityDeps, texts: string[], requestId: string, signal: AbortSignal) {
  const vectors: number[][] = [];
  let model = '';
  let dimensions = 0;
  for (let start = 0; start < texts.length; start += embedBatch) {
    const batch = await deps.ai.embed({ texts: texts.slice(start, start + embedBatch), signal, requestId });
    // Vectors of two models cannot be compared: a provider that changed under way is worth another attempt.
    const changed = start > 0 && (batch.model !== model || batch.dimensions !== dimensions);
    if (changed) throw new JobFailure('model_changed', 'The embedding model changed during the job.', true);
    ({ model, dimensions } = batch);
    vectors.push(...batch.vectors);
  }
  return { model, dimensions, vectors };
}
