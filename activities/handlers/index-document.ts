import { countCharacters } from '../../domain/characters.ts';
import { maxChunks, splitText } from '../../domain/chunks/split-text.ts';
import { storeChunks } from '../../domain/chunks/store-chunks.ts';
import { JobFailure } from '../job-failure.ts';
import { getDocumentText } from './document-text.ts';
import { getJobDocument, type Handler } from './handler.ts';

/**
 * Indexes a document for search, extracting it first where it has no text. More than 2,000 chunks fail finally.
 * Result: `{ chunks, characters, model, dimensions }`.
 */
export const indexDocument: Handler = async (deps, job, signal) => {
  const document = await getJobDocument(deps, job);
  const { text, store } = await getDocumentText(deps, document, job.id, signal);
  const texts = splitText(text);
  if (texts.length > maxChunks) {
    throw new JobFailure('too_many_chunks', `The document has more than ${maxChunks} chunks and cannot be indexed.`, false);
  }
  const { model, dimensions, vectors } = await deps.embedder.embedAll(texts, { signal, requestId: job.id });
  const chunks = texts.map((chunk, index) => ({ text: chunk, embedding: vectors[index] ?? [] }));
  return {
    result: { chunks: chunks.length, characters: countCharacters(text), model, dimensions },
    async effects(trx) {
      await store(trx);
      await storeChunks(trx, document, model, chunks);
    },
  };
};
