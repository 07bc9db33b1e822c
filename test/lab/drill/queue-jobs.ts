import { setTimeout as delay } from 'node:timers/promises';
import type { Service } from './service.ts';
import type { Tenant } from './tenant.ts';

const lanes = 4;
const longest = 1_800_000;

/** Creates so many jobs of each tenant, several at once. Returns their ids. */
export async function queueJobs(tenants: Tenant[], kind: string, each: number): Promise<string[]> {
  const queue = async (tenant: Tenant, count: number) => {
    const ids: string[] = [];
    for (let n = 0; n < count; n++) ids.push(await tenant.createJob({ kind }));
    return ids;
  };
  const countOf = (lane: number) => Math.floor((each + lane) / lanes);
  return (await Promise.all(tenants.flatMap((tenant) => Array.from({ length: lanes }, (_, lane) => queue(tenant, countOf(lane)))))).flat();
}

/** Those of the jobs that have not ended. */
export const listUnfinished = async ({ db }: Service, ids: string[]) =>
  await db.selectFrom('job').select('id').where('id', 'in', ids).where('status', 'in', ['queued', 'running']).execute();

/** Waits until all of these jobs have ended, for half an hour at most. Returns whether they have. */
export async function untilEnded(service: Service, ids: string[]): Promise<boolean> {
  for (const deadline = Date.now() + longest; Date.now() < deadline; await delay(250)) {
    if ((await listUnfinished(service, ids)).length === 0) return true;
  }
  return false;
}
