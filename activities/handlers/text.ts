import type { Handler } from './handler.ts';

/** Summarizes a text. Result: `{ summary, sentences, model, characters }`. */
export const summarizeText: Handler = async (deps, job, signal) => {
  const { text, maxSentences } = job.input as { text: string; maxSentences: number };
  return { result: { ...(await deps.ai.summarize({ text, maxSentences, signal, requestId: job.id })) } };
};

/** Embeds texts. Result: `{ model, dimensions, vectors }`, a vector for each text. */
export const embedTexts: Handler = async (deps, job, signal) => {
  const { texts } = job.input as { texts: string[] };
  return { result: { ...(await deps.ai.embed({ texts, signal, requestId: job.id })) } };
};
