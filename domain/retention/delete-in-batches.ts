import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../../db/connect.ts';

/** Small enough that a statement takes a fraction of a second and locks its rows for no longer. */
const batchSize = 2_000;

export interface Expired {
  table: string;
  /** The columns of the primary key. */
  key: string[];
  where: RawBuilder<boolean>;
}

export interface BatchOptions {
  onProgress: (deleted: number) => void;
  signal: AbortSignal;
}

/** Deletes the rows that a condition finds, a batch in each statement, and answers how many. Memory does not grow with them. */
export async function deleteInBatches(db: Db, { table, key, where }: Expired, { onProgress, signal }: BatchOptions): Promise<number> {
  const columns = sql.join(key.map((column) => sql.ref(column)));
  let total = 0;
  for (;;) {
    signal.throwIfAborted();
    const { numAffectedRows } = await sql`
      delete from ${sql.table(table)} where (${columns}) in (
        select ${columns} from ${sql.table(table)} where ${where} limit ${batchSize} for update skip locked
      )
    `.execute(db);
    const deleted = Number(numAffectedRows ?? 0);
    total += deleted;
    onProgress(total);
    if (deleted < batchSize) return total;
  }
}
