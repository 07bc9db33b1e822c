import { type Selectable, sql } from 'kysely';
import type { Db, Transaction } from '../../db/connect.ts';
import type { OrphanSweepStopTable } from '../../db/schema.ts';
import { type Actor, recordAudit } from '../audit.ts';

/** Why the sweep of orphaned objects has stopped, and how many an operator has allowed it to delete. */
type OrphanSweepStop = Omit<Selectable<OrphanSweepStopTable>, 'one'>;

/** Thrown if too many objects have no row. Nothing was deleted. */
export class OrphanSweepStopped extends Error {
  constructor({ found, checked }: Pick<OrphanSweepStop, 'found' | 'checked'>) {
    super(
      `${found} of ${checked} stored objects have no document: nothing is deleted. If that is right, \`npm run ops -- orphans --go-on\` lets the next housekeeping delete them.`,
    );
    this.name = 'OrphanSweepStopped';
  }
}

/** The stop of the sweep, or undefined if it is not stopped. */
export async function findStop(db: Db): Promise<OrphanSweepStop | undefined> {
  return await db.selectFrom('orphan_sweep_stop').select(['checked', 'found', 'allowed', 'stopped_at']).executeTakeFirst();
}

/** Notes that the sweep has stopped. An operator's permission for fewer objects no longer counts. */
export async function stopSweep(db: Db, { checked, found }: { checked: number; found: number }): Promise<OrphanSweepStop> {
  const stop = { checked, found, allowed: 0, stopped_at: sql<Date>`clock_timestamp()` };
  return await db
    .insertInto('orphan_sweep_stop')
    .values(stop)
    .onConflict((conflict) => conflict.column('one').doUpdateSet(stop))
    .returning(['checked', 'found', 'allowed', 'stopped_at'])
    .executeTakeFirstOrThrow();
}

/** Lets the next sweep delete as many objects as the stopped one found. Returns undefined if none is stopped. */
export async function allowSweep(trx: Transaction, actor: Actor): Promise<OrphanSweepStop | undefined> {
  const stop = await trx
    .updateTable('orphan_sweep_stop')
    .set({ allowed: sql`found` })
    .returning(['checked', 'found', 'allowed', 'stopped_at'])
    .executeTakeFirst();
  if (!stop) return undefined;
  const { id } = await trx.selectFrom('deployment').select('id').executeTakeFirstOrThrow();
  const { checked, found } = stop;
  await recordAudit(trx, actor, {
    organizationId: null,
    action: 'deployment.allowOrphanSweep',
    targetId: id,
    metadata: { checked, found },
  });
  return stop;
}

/** Some of the objects that have no document. */
export async function listOrphans(db: Db, limit: number): Promise<string[]> {
  return (await db.selectFrom('orphaned_object').select('key').orderBy('key').limit(limit).execute()).map(({ key }) => key);
}
