import { setTimeout as delay } from 'node:timers/promises';
import { type Counts, count, runHousekeeping } from './count.ts';
import type { Fault, FaultContext, FaultReport } from './fault.ts';
import { recover, sum } from './recover.ts';
import type { Tenant } from './tenant.ts';

const beforeMs = 1_500;
const standstillMs = 120_000;

/** Injects a fault under load, as often as it asks for, and counts what it left behind after recovery. */
export async function runFault(fault: Fault, context: FaultContext, note: (line: string) => void): Promise<FaultReport> {
  const { service, tenants, quiet, short, cutMs } = context;
  const runs = runsOf(fault, { short, isCutLong: cutMs !== undefined });
  const known = [...tenants, quiet];
  const report: FaultReport = { name: fault.name, runs, lost: 0, stuck: 0, duplicated: 0, ledgerOff: 0, orphans: 0, recoverySeconds: 0 };
  const before = await count(service, known);
  for (let run = 0; run < runs; run++) {
    const load = startLoad(fault.isAlone ? [] : tenants);
    await delay(beforeMs);
    const found = await fault.inject(context);
    const endedAt = performance.now();
    await load.stop();
    const { unfinished } = await recover(service, standstillMs);
    const seconds = Math.round((performance.now() - endedAt) / 100) / 10;
    report.recoverySeconds = Math.max(report.recoverySeconds, seconds);
    const late = await found?.afterRecovery?.();
    for (const name of ['lost', 'stuck', 'duplicated'] as const) report[name] += (found?.[name] ?? 0) + (late?.[name] ?? 0);
    if (found?.cut) report.cut = found.cut;
    if (found?.webhooks) report.webhooks = found.webhooks;
    if (found?.outage) report.outage = found.outage;
    if (sum(unfinished) === 0) continue;
    report.stuck += sum(unfinished);
    note(`${fault.name}: nothing moved for ${standstillMs / 1_000} s: ${JSON.stringify(unfinished)}`);
    break;
  }
  // It fails where it finds more orphans than it may delete.
  await runHousekeeping(service, fault.name).catch((error: Error) => {
    report.stuck++;
    note(`${fault.name}: housekeeping failed: ${error.cause ?? error}`);
  });
  await recover(service, standstillMs);
  add(report, before, await count(service, known));
  return report;
}

function runsOf({ runs, isCut }: Fault, { short, isCutLong }: { short: boolean; isCutLong: boolean }): number {
  if (isCut && isCutLong) return 1;
  return short ? Math.max(1, runs.short) : runs.full;
}

/** Adds only what this fault left behind, not earlier ones. */
function add(report: FaultReport, before: Counts, after: Counts): void {
  for (const name of ['lost', 'duplicated', 'ledgerOff', 'orphans'] as const) report[name] += Math.max(0, after[name] - before[name]);
}

/** The requests of the tenants while faults happen. */
interface Load {
  /** Starts no more requests, and waits for those in flight. Throws what a request threw. */
  stop(): Promise<void>;
}

const pauseMs = 1_500;
const sentence = 'The keeper of the lighthouse writes down wind, tide and every ship that passes the cape before dark. ';

/** Each tenant uploads, creates a job of every kind, and deletes every third document while its jobs run, until it is stopped. */
function startLoad(tenants: Tenant[]): Load {
  let stopped = false;
  const loops = tenants.map(async (tenant) => {
    for (let round = 0; !stopped; round++) {
      const documentId = await tenant.upload(sentence.repeat(30 + (round % 5)));
      for (const kind of ['document.index', 'document.extract', 'document.summarize', 'document.index']) {
        await tenant.createJob({ kind, documentId });
      }
      for (const kind of ['text.summarize', 'text.embed']) await tenant.createJob({ kind });
      if (round % 3 === 2) await tenant.deleteDocument(documentId);
      await delay(pauseMs);
    }
  });
  // `stop` throws the error; until then it must not be an unhandled rejection.
  for (const loop of loops) loop.catch(() => {});
  return {
    async stop() {
      stopped = true;
      await Promise.all(loops);
    },
  };
}
