import { setTimeout as delay } from 'node:timers/promises';
import { type Counts, count, keepHouse } from './count.ts';
import type { Fault, FaultContext, FaultReport } from './fault.ts';
import { startLoad } from './load.ts';
import { recover, sum } from './recover.ts';

const beforeMs = 1_500;
const standstillMs = 120_000;

/** Lets a fault happen under load, as often as it wants, and counts what it left behind once everything has come to rest. */
export async function runFault(fault: Fault, context: FaultContext, note: (line: string) => void): Promise<FaultReport> {
  const { service, tenants, short } = context;
  const runs = short ? Math.max(1, fault.runs.short) : fault.runs.full;
  const report = { name: fault.name, runs, lost: 0, stuck: 0, duplicated: 0, ledgerOff: 0, orphans: 0, recoverySeconds: 0 };
  const before = await count(service, tenants);
  for (let run = 0; run < runs; run++) {
    const load = startLoad(tenants);
    await delay(beforeMs);
    const found = await fault.inject(context);
    const endedAt = performance.now();
    await load.stop();
    const { unfinished } = await recover(service, standstillMs);
    const seconds = Math.round((performance.now() - endedAt) / 100) / 10;
    report.recoverySeconds = Math.max(report.recoverySeconds, seconds);
    report.lost += found?.lost ?? 0;
    report.stuck += found?.stuck ?? 0;
    report.duplicated += found?.duplicated ?? 0;
    if (sum(unfinished) === 0) continue;
    report.stuck += sum(unfinished);
    note(`${fault.name}: nothing moved for ${standstillMs / 1_000} s: ${JSON.stringify(unfinished)}`);
    break;
  }
  await keepHouse(service, fault.name);
  await recover(service, standstillMs);
  add(report, before, await count(service, tenants));
  return report;
}

/** What earlier faults left behind is not this one's. */
function add(report: FaultReport, before: Counts, after: Counts): void {
  for (const name of ['lost', 'duplicated', 'ledgerOff', 'orphans'] as const) report[name] += Math.max(0, after[name] - before[name]);
}
