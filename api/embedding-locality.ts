import type { AiClient } from '../ai/client.ts';

const keptMs = 60_000;

/**
 * Tells whether embeddings are local and a search is free. The provider is asked once a minute; a probe that fails counts as
 * free, so that nobody pays for the service's own trouble (spec §8).
 */
export function createLocality(ai: AiClient): () => Promise<boolean> {
  let asked: { at: number; local: Promise<boolean> } | undefined;
  return () => {
    if (!asked || Date.now() - asked.at > keptMs) asked = { at: Date.now(), local: probe(ai) };
    return asked.local;
  };
}

async function probe(ai: AiClient): Promise<boolean> {
  try {
    return (await ai.health()).provider === 'local';
  } catch {
    return true;
  }
}
