import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Fault } from '../fault.ts';
import { withHook } from '../hooks/with-hook.ts';
import type { Service } from '../service.ts';
import { send, type Tenant } from '../tenant.ts';
import { untilRunning } from './processes.ts';

/**
 * The disk is full: each write of an upload fails with ENOSPC. Uploads are refused with 507, leave nothing, and succeed when there is space
 * again.
 */
export const diskFull: Fault = {
  name: 'disk-full',
  runs: { full: 1, short: 0 },
  async inject({ service, tenants: [tenant] }) {
    if (!tenant) return undefined;
    await service.stack.restart('api', withHook('fill-disk.ts'));
    return { stuck: await uploadToFullDisk(service, tenant) };
  },
};

const fullText = 'An upload for which there is no room. '.repeat(2_000);

/** Returns 0 if an upload is refused and nothing of it is left, and it succeeds after a restart of the API with a disk that has room. */
async function uploadToFullDisk({ stack, objectsDirectory }: Service, tenant: Tenant): Promise<number> {
  const { document, upload } = await tenant.beginUpload(fullText.length);
  const put = { url: upload.url, method: 'PUT', headers: upload.headers, body: fullText };
  const refused = await send(put);
  await delay(2_000);
  await stack.restart('api');
  const incoming = join(objectsDirectory, '.incoming');
  const left = existsSync(incoming) ? readdirSync(incoming).length : 0;
  const stored = existsSync(join(objectsDirectory, tenant.organizationId, document.id));
  const received = await send(put);
  await tenant.deleteDocument(document.id);
  return refused?.status === 507 && left === 0 && !stored && received?.status === 200 ? 0 : 1;
}

const heapMb = 400;

/** The heap of the worker is full while jobs run: V8 ends the process, and another one starts. */
export const workerOutOfMemory: Fault = {
  name: 'worker-out-of-memory',
  runs: { full: 2, short: 0 },
  async inject(context) {
    const { stack } = context.service;
    const { NODE_OPTIONS } = withHook('eat-memory.ts');
    await stack.restart('worker', { NODE_OPTIONS: `--max-old-space-size=${heapMb} ${NODE_OPTIONS}` });
    await untilRunning(context, 2);
    stack.signal('worker', 'SIGUSR2');
    for (const deadline = Date.now() + 60_000; stack.pid('worker') !== undefined; await delay(50)) {
      if (Date.now() > deadline) throw new Error('The worker did not run out of memory within a minute.');
    }
    if (!stack.readLog('worker').includes('heap out of memory')) throw new Error('The worker ended, but not for want of memory.');
    await stack.start('worker');
    return undefined;
  },
};

const lateJobs = 20;

/**
 * Temporal comes back with a copy of its database from before the last jobs and deletions, whose workflows are gone. The worker is
 * suspended meanwhile, so that none of them has ended.
 */
export const temporalLost: Fault = {
  name: 'temporal-lost',
  runs: { full: 1, short: 0 },
  async inject({ service, tenants }) {
    const { stack } = service;
    const copy = join(stack.dataDir, 'temporal-copy');
    await stack.kill('temporal');
    copyDatabase(stack.dataDir, copy);
    await stack.start('temporal');
    stack.signal('worker', 'SIGSTOP');
    for (const tenant of tenants) {
      await Promise.all(Array.from({ length: lateJobs }, () => tenant.createJob({ kind: 'text.embed' })));
      await tenant.deleteDocument(await tenant.upload('Deleted when Temporal forgets it.'));
    }
    await untilDelivered(service);
    await stack.kill('temporal');
    copyDatabase(copy, stack.dataDir);
    await stack.start('temporal');
    stack.signal('worker', 'SIGCONT');
    return undefined;
  },
};

/** Waits until Temporal has every intent that was written before, for a minute at most. Throws then. */
async function untilDelivered({ db }: Service): Promise<void> {
  const { last } = await db
    .selectFrom('outbox')
    .select((eb) => eb.fn.max('id').as('last'))
    .executeTakeFirstOrThrow();
  if (last === null) return;
  for (const deadline = Date.now() + 60_000; Date.now() < deadline; await delay(100)) {
    const left = await db.selectFrom('outbox').select('id').where('id', '<=', last).limit(1).execute();
    if (left.length === 0) return;
  }
  throw new Error('Temporal did not take the intents within a minute.');
}

/** Copies SQLite's file with its log, and removes a log that the copy does not have. */
function copyDatabase(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const name of ['temporal.db', 'temporal.db-wal', 'temporal.db-shm']) {
    rmSync(join(to, name), { force: true });
    if (existsSync(join(from, name))) copyFileSync(join(from, name), join(to, name));
  }
}
