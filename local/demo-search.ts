import type { Client, SearchResults } from '../client/index.ts';
import { sampleQueries } from './demo-files.ts';
import { toQuery } from './demo-options.ts';
import { firstSentence } from './demo-text.ts';

/** What a search found, best first. */
export type DemoSearch = SearchResults & { query: string };

/** What to search for: what the user asks, else what fits the samples, else the first sentence of each document's own summary. */
export function chooseQueries(asked: string[], { samples, summaries }: { samples: boolean; summaries: (string | null)[] }): string[] {
  if (asked.length > 0) return asked;
  if (samples) return sampleQueries();
  const queries = summaries.map((summary) => toQuery(firstSentence(summary ?? '')));
  return [...new Set(queries)].filter((query) => query !== '');
}

/** Finds the three best chunks for a query. Throws SheafError. */
export async function search(
  client: Client,
  { workspaceId, query, signal }: { workspaceId: string; query: string; signal: AbortSignal },
): Promise<DemoSearch> {
  return { query, ...(await client.documents.search({ workspaceId, query, limit: 3 }, { signal })) };
}
