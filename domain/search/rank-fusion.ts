/** How slowly the weight of a rank falls: the usual value. */
const smoothing = 60;

/**
 * Whether a model's list is fused with that by words. The local hash compares words, as that list does, but worse: it would spoil the results
 * (docs/quality.md).
 */
export function isFused(model: string): boolean {
  return model !== 'local-hash-256';
}

/**
 * Fuses lists by reciprocal rank, best first; among equals, the items of the earlier list come first. Items with the same name count as
 * one, and the one that contributes most stands for them.
 */
export function fuseByRank<T>(lists: T[][], nameOf: (item: T) => string): T[] {
  const fused = new Map<string, { item: T; most: number; sum: number }>();
  for (const items of lists)
    for (const [index, item] of items.entries()) {
      const worth = 1 / (smoothing + index + 1);
      const other = fused.get(nameOf(item)) ?? { item, most: worth, sum: 0 };
      fused.set(nameOf(item), { ...(worth > other.most ? { item, most: worth } : other), sum: other.sum + worth });
    }
  return [...fused.values()].sort((one, other) => other.sum - one.sum).map(({ item }) => item);
}
