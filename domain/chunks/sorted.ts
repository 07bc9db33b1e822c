/** The last one of which a condition is true, if it is true of the first ones only; undefined if of none. Looks at few of many. */
export function lastWhere<T>(items: T[], isBefore: (item: T) => boolean): T | undefined {
  return items[countWhere(items, isBefore) - 1];
}

/** The first one of which a condition is true, if it is true of the last ones only; undefined if of none. Looks at few of many. */
export function firstFrom<T>(items: T[], isReached: (item: T) => boolean): T | undefined {
  return items[countWhere(items, (item) => !isReached(item))];
}

function countWhere<T>(items: T[], isBefore: (item: T) => boolean): number {
  let [low, high] = [0, items.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(items[middle] as T)) low = middle + 1;
    else high = middle;
  }
  return low;
}
