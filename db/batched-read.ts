import DataLoader from 'dataloader';
import { sql } from 'kysely';
import type { Db } from './connect.ts';

/**
 * Reads rows by their key, with one query for all keys that are requested in the same iteration of the event loop, so that many concurrent
 * requests cost few round trips. Nothing is cached, and a transaction batches only its own reads.
 */
export function batchedRead<Row>(
  load: (db: Db, keys: readonly string[]) => Promise<Row[]>,
  keyOf: (row: Row) => string,
): (db: Db, key: string) => Promise<Row | undefined> {
  const loaders = new WeakMap<Db, DataLoader<string, Row | undefined>>();
  return (db, key) => {
    let loader = loaders.get(db);
    if (!loader) {
      loader = new DataLoader((keys) => loadInOrder(db, keys), { cache: false, maxBatchSize: 100, batchScheduleFn: setImmediate });
      loaders.set(db, loader);
    }
    return loader.load(key);
  };

  async function loadInOrder(db: Db, keys: readonly string[]): Promise<(Row | undefined)[]> {
    const rows = new Map((await load(db, [...new Set(keys)])).map((row) => [keyOf(row), row]));
    return keys.map((key) => rows.get(key));
  }
}

/** The right side of `=` for {@link batchedRead}: one parameter for any number of keys. */
export function anyOf(keys: readonly string[]) {
  return sql<string>`any(${keys}::text[])`;
}
