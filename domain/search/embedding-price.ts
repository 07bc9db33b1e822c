const keptMs = 60_000;

/** What the AI service reports: who embeds by default, and which models it has. */
interface Reports {
  health(): Promise<{ provider: string; embeddings: { model: string }[] }>;
}

/** Models whose names begin so are the service's own, and cost nothing. */
const localPrefix = 'local-';

/**
 * Returns whether the embedding of a query by a model costs a credit, by the provider that the AI service reports: not if that is local, nor
 * with a local model that the service has. The service is asked once a minute; while it does not respond, searches are free.
 */
export function createEmbeddingPrice(ai: Reports): (model?: string) => Promise<boolean> {
  let asked: { at: number; reports: ReturnType<Reports['health']> } | undefined;
  return async (model) => {
    if (!asked || Date.now() - asked.at > keptMs) asked = { at: Date.now(), reports: ai.health() };
    try {
      const { provider, embeddings } = await asked.reports;
      const isLocal = model?.startsWith(localPrefix) && embeddings.some((one) => one.model === model);
      return provider !== 'local' && !isLocal;
    } catch {
      return false;
    }
  };
}
