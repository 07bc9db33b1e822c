import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Transaction } from '../../../../db/connect.ts';
import { inTransaction } from '../../../../db/transaction.ts';
import { systemActor } from '../../../../domain/audit.ts';
import { liftSuspension, suspendOrganization } from '../../../../domain/organizations/suspend-organization.ts';
import { setReadOnly } from '../../../../domain/platform/read-only.ts';
import type { Fault } from '../fault.ts';
import { queueJobs } from '../queue-jobs.ts';
import type { Service } from '../service.ts';
import { untilRunning } from './processes.ts';

const jobs = 60;
/** Longer than an attempt may take, with the wait before the next one. */
const heldMs = 10_000;

/**
 * An operator suspends an organization that has jobs queued, and then makes the deployment read-only; the worker is killed under both. No attempt
 * begins meanwhile, while those of others go on under the suspension, and every job ends well once both are lifted.
 */
export const levers: Fault = {
  name: 'levers',
  runs: { full: 1, short: 0 },
  async inject(context) {
    const { service, quiet } = context;
    const { organizationId } = quiet;
    const pull = (work: (trx: Transaction) => Promise<unknown>) => inTransaction(service.db, work);
    // They are all queued when the first of them begins.
    service.stack.signal('worker', 'SIGSTOP');
    const ids = await queueJobs([quiet], 'text.embed', jobs);
    service.stack.signal('worker', 'SIGCONT');
    await untilRunning(context, 2);
    await pull((trx) => suspendOrganization(trx, systemActor, { organizationId, reason: 'drill' }));
    const suspended = await countBegun(service, organizationId);
    await pull((trx) => setReadOnly(trx, systemActor, 'drill'));
    const readOnly = await countBegun(service, organizationId);
    const queued = await service.db.selectFrom('job').select('id').where('id', 'in', ids).where('status', '=', 'queued').execute();
    if (queued.length === 0) throw new Error('No job was left to wait for the end of the suspension.');
    await pull((trx) => liftSuspension(trx, systemActor, organizationId));
    await pull((trx) => setReadOnly(trx, systemActor, null));
    return {
      stuck: Number(suspended.others === 0),
      duplicated: suspended.own + readOnly.own + readOnly.others,
      async afterRecovery() {
        const succeeded = await service.db
          .selectFrom('job')
          .select('id')
          .where('id', 'in', ids)
          .where('status', '=', 'succeeded')
          .execute();
        return { lost: ids.length - succeeded.length };
      },
    };
  },
};

interface Begun {
  /** Attempts of the organization. */
  own: number;
  others: number;
}

/** Kills the worker and starts another one. Returns how many attempts it has begun after a while. */
async function countBegun({ stack, db }: Service, organizationId: string): Promise<Begun> {
  const count = async () => {
    const own = sql<boolean>`organization_id = ${organizationId}`;
    const attempts = (filter: typeof own) => sql<number>`coalesce(sum(attempts) filter (where ${filter}), 0)::int`;
    const sums = db.selectFrom('job').select([attempts(own).as('own'), attempts(sql`not ${own}`).as('others')]);
    return await sums.executeTakeFirstOrThrow();
  };
  await stack.kill('worker');
  const before = await count();
  await stack.start('worker');
  await delay(heldMs);
  const after = await count();
  return { own: after.own - before.own, others: after.others - before.others };
}
