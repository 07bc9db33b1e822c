import type { Summary } from '../summarize/summarize-text.ts';

/** Vectors of one length, one for each text, in their order. */
export interface Embeddings {
  model: string;
  dimensions: number;
  vectors: number[][];
}

/** What summarizes and embeds. Both throw ServiceError. */
export interface Provider {
  name: 'local' | 'remote';
  summarize(text: string, maxSentences: number, signal: AbortSignal): Promise<Summary>;
  embed(texts: string[], signal: AbortSignal): Promise<Embeddings>;
}
