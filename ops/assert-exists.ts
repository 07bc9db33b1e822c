import type { Db } from '../db/connect.ts';
import { OpsError } from './context.ts';

/** Throws OpsError if there is no such row: a command on a missing row would report that nothing is wrong. */
export async function assertExists(db: Db, table: 'organization' | 'workspace', id: string): Promise<void> {
  const found = await db.selectFrom(table).select('id').where('id', '=', id).executeTakeFirst();
  if (!found) throw new OpsError(`There is no ${table} ${id}.`);
}
