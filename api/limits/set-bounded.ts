/** Sets an entry of a map that has at most so many. One more makes the map forget its oldest. */
export function setBounded<Value>(map: Map<string, Value>, key: string, value: Value, most: number): void {
  const [oldest] = map.keys();
  if (oldest !== undefined && map.size >= most && !map.has(key)) map.delete(oldest);
  map.set(key, value);
}
