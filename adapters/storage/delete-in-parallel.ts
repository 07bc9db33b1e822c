import type { Deletion } from './port.ts';

const parallel = 20;

/** Deletes objects of a store that takes one with each request, several requests at a time. */
export async function* deleteInParallel(keys: readonly string[], deleteOne: (key: string) => Promise<void>): AsyncGenerator<Deletion> {
  for (let start = 0; start < keys.length; start += parallel) {
    const portion: Deletion = { deleted: [], refused: new Map() };
    await Promise.all(
      keys.slice(start, start + parallel).map(async (key) => {
        try {
          await deleteOne(key);
          portion.deleted.push(key);
        } catch (error) {
          portion.refused.set(key, error);
        }
      }),
    );
    yield portion;
  }
}
