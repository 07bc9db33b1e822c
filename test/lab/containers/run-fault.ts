import { setTimeout as delay } from 'node:timers/promises';
import type { Tenant } from '../drill/tenant.ts';
import type { Compose } from './compose.ts';
import { countEffects, countUnfinished, type Effects } from './effects.ts';
import type { Fault } from './faults.ts';

/** What a fault did to the work of a tenant. */
export interface FaultReport extends Effects {
  name: string;
  /** Jobs accepted while it lasted and shortly after. */
  jobs: number;
  /** The longest that a client asked again and again until its job was accepted. */
  longestWaitSeconds: number;
  /** From the end of the fault until every job had ended. */
  recoverySeconds: number;
  /** Whether `ops ledger` finds the ledger sound. */
  ledgerSound: boolean;
}

const clients = 3;
const pauseMs = 150;
const afterwardsMs = 3_000;
const patienceMs = 240_000;

/** Injects a fault while clients create jobs of each kind, waits until every job has ended, and counts. */
export async function runFault(fault: Fault, compose: Compose, tenant: Tenant): Promise<FaultReport> {
  const before = tenant.accepted.size;
  const load = startLoad(tenant);
  await delay(1_000);
  await fault.inject(compose);
  await compose.waitUntilHealthy();
  await delay(afterwardsMs);
  const longestWaitSeconds = await load.stop();
  const recoverySeconds = await waitForEnd(compose);
  const effects = await countEffects(compose, tenant.organizationId, tenant.accepted);
  const { code } = await compose.exec('api', 'node', 'ops/main.ts', 'ledger');
  return {
    name: fault.name,
    jobs: tenant.accepted.size - before,
    longestWaitSeconds,
    recoverySeconds,
    ledgerSound: code === 0,
    ...effects,
  };
}

/** Whether nothing was lost, stuck or done twice. */
export function isSound({ unfinished, lost, twice, ledgerSound, jobs }: FaultReport): boolean {
  return jobs > 0 && unfinished + lost + twice === 0 && ledgerSound;
}

function startLoad(tenant: Tenant): { stop(): Promise<number> } {
  let stopping = false;
  let longestMs = 0;
  const kinds = ['text.summarize', 'text.embed', 'document.extract'];
  const client = async (number: number) => {
    const documentId = await tenant.upload('The tide turns at noon. The ferry waits for nobody. Bread is sold on the pier.');
    for (let count = number; !stopping; count++) {
      const kind = kinds[count % kinds.length] ?? '';
      const startedAt = performance.now();
      await tenant.createJob(kind.startsWith('document.') ? { kind, documentId } : { kind });
      longestMs = Math.max(longestMs, performance.now() - startedAt);
      await delay(pauseMs);
    }
  };
  const running = Promise.all(Array.from({ length: clients }, (_, number) => client(number)));
  // A failure is thrown by `stop`.
  running.catch(() => {});
  return {
    async stop() {
      stopping = true;
      await running;
      return Math.round(longestMs / 100) / 10;
    },
  };
}

/** Waits until nothing is unfinished, or nothing has changed for a while; returns how long that took. */
async function waitForEnd(compose: Compose): Promise<number> {
  const startedAt = performance.now();
  let changedAt = startedAt;
  for (let last = -1; ; ) {
    const unfinished = await countUnfinished(compose);
    const now = performance.now();
    if (unfinished !== last) changedAt = now;
    last = unfinished;
    if (unfinished === 0 || now - changedAt > patienceMs) return Math.round((now - startedAt) / 100) / 10;
    await delay(500);
  }
}
