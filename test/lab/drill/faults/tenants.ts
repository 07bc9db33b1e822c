import { readdirSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { Fault, FaultContext } from '../fault.ts';
import type { Tenant } from '../tenant.ts';
import { pdfBomb, pngBomb } from './bombs.ts';

const queued = 200;
const lanes = 20;
const slowUploads = 20;
const slowBytes = 1_000_000;
const reads = 40;

/**
 * One tenant queues hundreds of jobs, opens uploads that never end, and searches and lists without a pause. A job that another one creates
 * behind all this must end before the queue does.
 */
export const loudTenant: Fault = {
  name: 'loud-tenant',
  runs: { full: 1, short: 0 },
  async inject(context) {
    const [quiet, loud] = context.tenants;
    if (!quiet || !loud) return undefined;
    const uploads = await Promise.all(Array.from({ length: slowUploads }, () => openSlowUpload(loud)));
    const reading = Promise.all(Array.from({ length: reads }, () => Promise.all([loud.listJobs(), loud.search('the tide')])));
    await Promise.all(Array.from({ length: lanes }, () => createJobs(loud, queued / lanes)));
    const passed = await overtakes(context, await quiet.createJob({ kind: 'text.embed' }), loud);
    await reading;
    for (const close of uploads) close();
    return { stuck: passed ? 0 : 1 };
  },
};

async function createJobs(tenant: Tenant, count: number): Promise<void> {
  for (let n = 0; n < count; n++) await tenant.createJob({ kind: 'text.embed' });
}

/** Whether the job ends while jobs of the loud tenant are still queued. */
async function overtakes({ service: { db } }: FaultContext, jobId: string, loud: Tenant): Promise<boolean> {
  for (; ; await delay(50)) {
    const queue = await db
      .selectFrom('job')
      .select('id')
      .where('organization_id', '=', loud.organizationId)
      .where('status', '=', 'queued')
      .limit(1)
      .execute();
    const job = await db.selectFrom('job').select('status').where('id', '=', jobId).executeTakeFirst();
    if (job?.status !== 'queued' && job?.status !== 'running') return true;
    if (queue.length === 0) return false;
  }
}

/** Sends the first bytes of an upload, and no more. Returns what breaks it off. */
async function openSlowUpload(tenant: Tenant): Promise<() => void> {
  const { upload } = await tenant.beginUpload(slowBytes);
  const req = request(upload.url, { method: 'PUT', headers: { ...upload.headers, 'content-length': slowBytes } });
  req.on('error', () => {});
  req.write('The first words of a long story. ');
  return () => req.destroy();
}

const killEveryMs = 200;
const killForMs = 6_000;

/**
 * Files that are hundreds of times as large when they are read, and a reader that is killed again and again: their jobs end, and those of the
 * other documents go on.
 */
export const hostileFiles: Fault = {
  name: 'hostile-files',
  runs: { full: 1, short: 0 },
  async inject({ service: { stack }, tenants: [tenant] }) {
    if (!tenant) return undefined;
    for (const bomb of [pdfBomb(), pngBomb()]) {
      const documentId = await tenant.upload(bomb.bytes, bomb);
      for (const kind of ['document.extract', 'document.index']) await tenant.createJob({ kind, documentId });
    }
    const documentId = await tenant.upload('A document whose readers are killed. '.repeat(1_000));
    for (const kind of ['document.extract', 'document.summarize']) await tenant.createJob({ kind, documentId });
    for (const deadline = Date.now() + killForMs; Date.now() < deadline; await delay(killEveryMs)) {
      for (const pid of descendants(stack.pid('ai') ?? 0)) kill(pid);
    }
    return undefined;
  },
};

function descendants(pid: number): number[] {
  const parents = readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? [[Number(name), parentOf(name)] as const] : []));
  const below = (parent: number): number[] => parents.filter(([, of]) => of === parent).flatMap(([child]) => [child, ...below(child)]);
  return below(pid);
}

/** The parent of a process; 0 if it is gone. */
function parentOf(pid: string): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return 0;
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It is gone already.
  }
}
