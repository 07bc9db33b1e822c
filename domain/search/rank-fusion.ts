/** How slowly a place in a list loses its worth: the usual value. */
const smoothing = 60;

/**
 * How much the semantic list counts beside the lexical one, by the model that compares, as measured (docs/answers.md). The local hash
 * compares words, as the lexical list does, only worse: counted fully it would spoil what the words found.
 */
const semanticWeights: Record<string, number> = { 'local-hash-256': 0.1 };

/** The weight of a model's list; 1 for a model that has not been measured here. */
export function semanticWeightOf(model: string): number {
  return semanticWeights[model] ?? 1;
}

/** A list of keys, best first, and how much it counts. */
export interface RankedList {
  keys: string[];
  weight: number;
}

/** What a place, from 0, in a list of this weight counts. */
export function worthOfPlace(place: number, weight: number): number {
  return weight / (smoothing + place + 1);
}

/** Fuses lists by reciprocal rank: the keys of all of them, best first. Of equal ones that of the earlier list comes first. */
export function fuseByRank(lists: RankedList[]): string[] {
  const scores = new Map<string, number>();
  for (const { keys, weight } of lists)
    for (const [place, key] of keys.entries()) scores.set(key, (scores.get(key) ?? 0) + worthOfPlace(place, weight));
  return [...scores].sort(([, one], [, other]) => other - one).map(([key]) => key);
}
