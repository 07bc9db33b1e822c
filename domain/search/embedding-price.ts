const keptMs = 60_000;

/** The reports of the AI service: its default provider, and its models. */
interface Reports {
  health(): Promise<{ provider: string; embeddings: { model: string }[] }>;
}

/** The prefix of models that belong to the service itself and cost nothing. */
const localPrefix = 'local-';

/**
 * Returns a function that finds out whether embedding a query with a model costs a credit. A local provider and local models of the service are
 * free. The AI service is asked once a minute; while it does not respond, searches are free.
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
