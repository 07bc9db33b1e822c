/** How slowly the weight of a rank falls: the usual value. */
const smoothing = 60;

/**
 * The weight of the semantic list beside the lexical one, for each model, as measured (docs/answers.md). The local hash compares words, as
 * the lexical list does, but worse: with full weight it would spoil the lexical results.
 */
const semanticWeights: Record<string, number> = { 'local-hash-256': 0.1 };

/** The weight of a model's list; 1 for a model that was not measured. */
export function semanticWeightOf(model: string): number {
  return semanticWeights[model] ?? 1;
}

/** A list, best first, and its weight. */
export interface RankedList<T> {
  items: T[];
  weight: number;
}

/**
 * Fuses lists by reciprocal rank, best first; among equals, the items of the earlier list come first. Items with the same name count as
 * one, and the one that contributes most stands for them.
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
