/** The last item for which the condition holds; undefined if there is none. It must hold for the first items, and for none after them. */
export function lastWhere<T>(items: T[], condition: (item: T) => boolean): T | undefined {
  return items[partitionPoint(items, condition) - 1];
}

/** The first item for which the condition holds; undefined if there is none. It must hold for the last items, and for none before them. */
export function firstWhere<T>(items: T[], condition: (item: T) => boolean): T | undefined {
  return items[partitionPoint(items, (item) => !condition(item))];
}

/** The number of items for which the condition holds. It must hold for the first items, and for none after them. */
export function partitionPoint<T>(items: T[], condition: (item: T) => boolean): number {
  let [low, high] = [0, items.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (condition(items[middle] as T)) low = middle + 1;
    else high = middle;
  }
  return low;
}
