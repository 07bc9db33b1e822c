import { sql } from 'kysely';
import type { Db } from '../../db/connect.ts';

/** What waits beside the jobs, of the whole platform. Ages in seconds, null where nothing waits. */
export interface Waiting {
  /** Intents that Temporal has not taken yet. */
  outbox: { size: number; oldestSeconds: number | null };
  /** Stored objects whose rows are gone; `refused` by the store at least once. */
  objectsToDelete: { size: number; refused: number; oldestSeconds: number | null };
}

/** Measures the intents and the objects to delete. */
export async function measureWaiting(db: Db): Promise<Waiting> {
  const { rows } = await sql<{ intents: number; intentAge: number | null; objects: number; refused: number; objectAge: number | null }>`
    select
      (select count(*) from outbox) as intents,
      (select extract(epoch from now() - min(created_at))::int from outbox) as "intentAge",
      (select count(*) from object_to_delete) as objects,
      (select count(*) from object_to_delete where attempts > 0) as refused,
      (select extract(epoch from now() - min(created_at))::int from object_to_delete) as "objectAge"
  `.execute(db);
  const { intents = 0, intentAge = null, objects = 0, refused = 0, objectAge = null } = rows[0] ?? {};
  return { outbox: { size: intents, oldestSeconds: intentAge }, objectsToDelete: { size: objects, refused, oldestSeconds: objectAge } };
}
