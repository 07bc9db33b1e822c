/**
 * A view of a value that notes the path of each field that is read of it, such as `/spec/replicas`. A generated validator reads exactly the
 * fields that it knows.
 */
export function watchReads<T>(value: T, reads: Set<string>, path = ''): T {
  if (typeof value !== 'object' || value === null) return value;
  return new Proxy(value, {
    get(target, key) {
      const field = Reflect.get(target, key);
      if (typeof key === 'symbol' || !Object.hasOwn(target, key)) return field;
      reads.add(`${path}/${key}`);
      return watchReads(field, reads, `${path}/${key}`);
    },
  });
}

/** The fields of a value that {@link watchReads} did not note, without those inside of them. */
export function findUnread(value: unknown, reads: Set<string>, path = ''): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, field]) => {
    const at = `${path}/${key}`;
    return reads.has(at) ? findUnread(field, reads, at) : [at];
  });
}
