import type { AiClient } from '../ai/client.ts';

const keptMs = 60_000;

/**
 * What the embedding of a query costs its organization.
 * - `free`: embeddings are local, or nobody could say so far.
 * - `charged`: a remote model makes them.
 * - `unknown`: a remote model made them when the provider was last known, and it cannot be asked now. Nobody pays for the service's own
 *   trouble, but a search that could not be paid is not worth trying.
 */
export type EmbeddingPrice = 'free' | 'charged' | 'unknown';

/** Tells what embeddings cost. The provider is asked once a minute. */
export function createEmbeddingPrice(ai: AiClient): () => Promise<EmbeddingPrice> {
  let asked: { at: number; price: Promise<EmbeddingPrice> } | undefined;
  let wasRemote = false;
  return () => {
    if (!asked || Date.now() - asked.at > keptMs) asked = { at: Date.now(), price: probe() };
    return asked.price;
  };

  async function probe(): Promise<EmbeddingPrice> {
    try {
      wasRemote = (await ai.health()).provider !== 'local';
      return wasRemote ? 'charged' : 'free';
    } catch {
      return wasRemote ? 'unknown' : 'free';
    }
  }
}
