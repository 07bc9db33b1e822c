const keptMs = 60_000;

/**
 * What the embedding of a query costs its organization.
 * - `free`: embeddings are local, or the provider was never known.
 * - `charged`: a remote model makes them.
 * - `unknown`: a remote model made them when the provider was last known, and the AI service does not respond now. Nobody is charged
 *   for an outage, but an organization without credits is refused all the same.
 */
export type EmbeddingPrice = 'free' | 'charged' | 'unknown';

/** What the AI service reports: who embeds by default, and which models it has. */
interface Reports {
  health(): Promise<{ provider: string; embeddings: { model: string }[] }>;
}

/** Models whose names begin so are the service's own, and cost nothing. */
const localPrefix = 'local-';

/**
 * Returns what embeddings cost, by the provider that the AI service reports: with one of its local models nothing, if the service has it,
 * whatever its provider. The service is asked once a minute.
 */
export function createEmbeddingPrice(ai: Reports): (model?: string) => Promise<EmbeddingPrice> {
  let asked: { at: number; price: Promise<EmbeddingPrice> } | undefined;
  let wasRemote = false;
  let local: string[] = [];
  return async (model) => {
    if (!asked || Date.now() - asked.at > keptMs) asked = { at: Date.now(), price: probe() };
    const price = await asked.price;
    return model !== undefined && local.includes(model) ? 'free' : price;
  };

  async function probe(): Promise<EmbeddingPrice> {
    try {
      const { provider, embeddings } = await ai.health();
      local = embeddings.map(({ model }) => model).filter((model) => model.startsWith(localPrefix));
      wasRemote = provider !== 'local';
      return wasRemote ? 'charged' : 'free';
    } catch {
      return wasRemote ? 'unknown' : 'free';
    }
  }
}
