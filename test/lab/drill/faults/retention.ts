import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import { runHousekeeping } from '../count.ts';
import type { Fault } from '../fault.ts';
import type { Service } from '../service.ts';
import { Tenant } from '../tenant.ts';
import { restart } from './processes.ts';

const due = 40;
const recent = 5;
/** How many of those that are due are gone when the worker is killed. */
const goneAtKill = 5;

/** The documents of a tenant that keeps them for a day. */
interface Kept {
  tenant: Tenant;
  due: string[];
  recent: string[];
}

/**
 * The worker is killed while housekeeping deletes what two tenants have kept for long enough, of whom one is under a legal hold: nothing of
 * that one goes before the hold is lifted, nothing recent at all, and all that is due in the end, with one entry of the audit log each.
 */
export const retentionKilled: Fault = {
  name: 'retention-killed',
  runs: { full: 1, short: 0 },
  isAlone: true,
  async inject(context) {
    const { service } = context;
    const [free, held] = [await keepForADay(service), await keepForADay(service)];
    const hold = `/organizations/${held.tenant.organizationId}/hold`;
    await held.tenant.call('PUT', hold, { reason: 'drill' });
    const housekeeping = runHousekeeping(service, 'retention');
    housekeeping.catch(() => {});
    await untilGone(service, free.due, goneAtKill);
    await restart(context, 'worker', 500);
    await housekeeping;
    const leftAtFirst = (await present(service, free.due)).length;
    const heldAway = due - (await present(service, held.due)).length;
    await held.tenant.call('DELETE', hold);
    await runHousekeeping(service, 'lifted');
    const left = (await present(service, held.due)).length;
    const recentAway = 2 * recent - (await present(service, [...free.recent, ...held.recent])).length;
    const { unsaid, twice } = await compareAudit(service, [...free.due, ...held.due]);
    return { lost: heldAway + recentAway + unsaid, stuck: leftAtFirst + left, duplicated: twice };
  },
};

async function keepForADay({ db, stack }: Service): Promise<Kept> {
  const tenant = await Tenant.create(stack.apiUrl);
  await tenant.call('PATCH', `/workspaces/${tenant.workspaceId}`, { retention: { documents: 1, texts: null, jobs: null } });
  const ids: string[] = [];
  for (let n = 0; n < due + recent; n++) ids.push(await tenant.upload(`Tide table ${n}.`));
  const old = ids.slice(0, due);
  await db.updateTable('document').set({ created_at: sql<Date>`now() - interval '2 days'` }).where('id', 'in', old).execute();
  return { tenant, due: old, recent: ids.slice(due) };
}

const present = async ({ db }: Service, ids: string[]) => await db.selectFrom('document').select('id').where('id', 'in', ids).execute();

/** Waits, for a minute at most, until so many of the documents are gone. */
async function untilGone(service: Service, ids: string[], wanted: number): Promise<void> {
  for (const deadline = Date.now() + 60_000; Date.now() < deadline; await delay(2)) {
    if (ids.length - (await present(service, ids)).length >= wanted) return;
  }
}

/** How many deletions are not in the audit log, and how many entries are more than one of a document. */
async function compareAudit({ db }: Service, ids: string[]): Promise<{ unsaid: number; twice: number }> {
  const entries = await db
    .selectFrom('audit_entry')
    .select('target_id')
    .where('action', '=', 'document.delete')
    .where('target_id', 'in', ids)
    .execute();
  const said = new Set(entries.map(({ target_id: id }) => id));
  return { unsaid: ids.length - said.size, twice: entries.length - said.size };
}
