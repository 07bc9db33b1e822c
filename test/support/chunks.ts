import type { Db } from '../../db/connect.ts';
import { toRealArray } from '../../db/real-array.ts';
import { toUnitLength } from '../../domain/chunks/unit-vector.ts';

const rowsPerInsert = 500;

export interface NewChunk {
  model: string;
  vector: number[];
}

/**
 * Writes an organization of one workspace of one document with these chunks, all under the name `id`; their ids are its name and
 * their number, so that databases can be compared.
 */
export async function insertWorkspaceOfChunks(db: Db, id: string, chunks: NewChunk[]): Promise<void> {
  const place = { organization_id: id, workspace_id: id };
  await db.insertInto('organization').values({ id, name: id, slug: id, createdAt: new Date() }).execute();
  await db.insertInto('workspace').values({ id, organization_id: id, name: id, slug: id }).execute();
  const document = { id, ...place, name: `${id}.txt`, content_type: 'text/plain', size_bytes: 1, object_key: id };
  await db
    .insertInto('document')
    .values({ ...document, status: 'ready', chunk_count: chunks.length, indexed_at: new Date() })
    .execute();
  for (let start = 0; start < chunks.length; start += rowsPerInsert) {
    const rows = chunks.slice(start, start + rowsPerInsert).map(({ model, vector }, offset) => {
      const index = start + offset;
      const text = `chunk ${index}`;
      return {
        id: `${id}-${String(index).padStart(5, '0')}`,
        ...place,
        document_id: id,
        index,
        text,
        model,
        embedding: toRealArray(toUnitLength(vector)),
      };
    });
    await db.insertInto('chunk').values(rows).execute();
  }
}

/** Vectors in groups, as those of real texts are; the same ones for the same seed. */
export function makeVectors(seed: number, count: number, dimensions: number): number[][] {
  const groups = makeVectorsAround(new Array(dimensions).fill(0), { seed, count: 50, spread: 1 });
  const members = groups.map((center, i) =>
    makeVectorsAround(center, { seed: seed + i, count: Math.ceil(count / groups.length), spread: 0.8 }),
  );
  return members.flat().slice(0, count);
}

/** Vectors that are no farther from a center than half of the spread, in each dimension. */
export function makeVectorsAround(center: number[], { seed, count, spread }: { seed: number; count: number; spread: number }): number[][] {
  const random = randomFrom(seed);
  return Array.from({ length: count }, () => center.map((value) => value + spread * (random() - 0.5)));
}

/** A linear congruential generator: numbers from 0 to below 1. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
