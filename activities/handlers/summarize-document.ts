import { textOf } from './extract-document.ts';
import { getJobDocument, type Handler } from './handler.ts';

/** Summarizes a document, extracting it first where it has no text. Result: `{ summary, sentences, model, characters }`. */
export const summarizeDocument: Handler = async (deps, job, signal) => {
  const document = await getJobDocument(deps, job);
  const { text, store } = await textOf(deps, document, job.id, signal);
  const maxSentences = Number(job.input.maxSentences);
  const summary = await deps.ai.summarize({ text, maxSentences, signal, requestId: job.id });
  return { result: { ...summary }, effects: store };
};
