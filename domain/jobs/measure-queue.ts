import { sql } from 'kysely';
import type { Db } from '../../db/connect.ts';

/** The jobs of the whole platform: `depth` are queued, those between two attempts included. */
export interface QueueMeasure {
  depth: number;
  running: number;
  failed: number;
  oldestQueuedAt: Date | null;
}

/** Measures the queue from the rows, which decide; an index over its own part answers each count. */
export async function measureQueue(db: Db): Promise<QueueMeasure> {
  const { rows } = await sql<QueueMeasure>`
    select
      (select count(*) from job where status = 'queued') as depth,
      (select min(created_at) from job where status = 'queued') as "oldestQueuedAt",
      (select count(*) from job where status = 'running') as running,
      (select count(*) from job where status = 'failed') as failed
  `.execute(db);
  return rows[0] ?? { depth: 0, running: 0, failed: 0, oldestQueuedAt: null };
}
