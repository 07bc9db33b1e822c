import { JobFailure } from '../job-failure.ts';
import { getDocumentText } from './document-text.ts';
import { getJobDocument, type Handler } from './handler.ts';

/**
 * Summarizes a document, extracting it first where no text is stored. One without text fails finally.
 * Result: `{ summary, sentences, model, characters }`.
 */
export const summarizeDocument: Handler = async (deps, job, signal) => {
  const document = await getJobDocument(deps, job);
  const { text, store } = await getDocumentText(deps, document, job.id, signal);
  if (text.trim() === '') throw new JobFailure('no_text', 'The document has no text to summarize.', false);
  const maxSentences = Number(job.input.maxSentences);
  const summary = await deps.ai.summarize({ text, maxSentences, signal, requestId: job.id });
  return { result: { ...summary }, effects: store };
};
