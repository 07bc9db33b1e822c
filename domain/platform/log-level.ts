import { sql } from 'kysely';
import type { Db, Transaction } from '../../db/connect.ts';
import { type Actor, recordAudit } from '../audit.ts';

/** The level of the log that an operator has set for now, and its end; null if none is set. */
export async function findLogLevel(db: Db): Promise<{ level: string; until: Date } | null> {
  const { rows } = await sql<{ level: string; until: Date }>`
    select log_level as level, log_level_until as until from deployment where log_level_until > now()
  `.execute(db);
  return rows[0] ?? null;
}

/** Sets the level of every process for `minutes` from now; with null each has its own again. Returns the end, or null. */
export async function setLogLevel(trx: Transaction, actor: Actor, set: { level: string; minutes: number } | null): Promise<Date | null> {
  const { id, log_level_until: until } = await trx
    .updateTable('deployment')
    .set({
      log_level: set?.level ?? null,
      log_level_until: sql`now() + make_interval(mins => ${set?.minutes ?? null}::int)`,
    })
    .returning(['id', 'log_level_until'])
    .executeTakeFirstOrThrow();
  const metadata = { level: set?.level ?? null, until };
  await recordAudit(trx, actor, { organizationId: null, action: 'deployment.logLevel', targetId: id, metadata });
  return until;
}
