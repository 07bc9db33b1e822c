const keptMs = 60_000;

/**
 * What the embedding of a query costs its organization.
 * - `free`: embeddings are local, or the provider was never known.
 * - `charged`: a remote model makes them.
 * - `unknown`: a remote model made them when the provider was last known, and the AI service does not respond now. Nobody is charged
 *   for an outage, but an organization without credits is refused all the same.
 */
export type EmbeddingPrice = 'free' | 'charged' | 'unknown';

/** Returns what embeddings cost, by the provider that the AI service reports. It is asked once a minute. */
export function createEmbeddingPrice(ai: { health(): Promise<{ provider: string }> }): () => Promise<EmbeddingPrice> {
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
