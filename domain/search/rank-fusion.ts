/** How slowly a rank loses its worth: the usual value. */
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

/** A list, best first, and how much it counts. */
export interface RankedList<T> {
  items: T[];
  weight: number;
}

/**
 * Fuses lists by reciprocal rank: what they name, best first; of equal ones that of the earlier list comes first. What is named alike is one,
 * and is stood for by the item that counts most.
 */
export function fuseByRank<T>(lists: RankedList<T>[], nameOf: (item: T) => string): T[] {
  const fused = new Map<string, { item: T; most: number; sum: number }>();
  for (const { items, weight } of lists)
    for (const [index, item] of items.entries()) {
      const worth = weight / (smoothing + index + 1);
      const other = fused.get(nameOf(item)) ?? { item, most: worth, sum: 0 };
      fused.set(nameOf(item), { ...(worth > other.most ? { item, most: worth } : other), sum: other.sum + worth });
    }
  return [...fused.values()].sort((one, other) => other.sum - one.sum).map(({ item }) => item);
}
