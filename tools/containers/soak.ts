import { setTimeout as delay } from 'node:timers/promises';
import type { Tenant } from '../drill/tenant.ts';
import type { Compose } from './compose.ts';
import { countEffects, type Effects, watchEffects } from './effects.ts';
import { waitForEnd } from './run-fault.ts';
import { type LoadReport, SteadyLoad } from './steady-load.ts';
import { type ContainerUse, measureContainers, measureLog } from './use-of-containers.ts';

/** A container from the beginning of the load to its end. */
export interface SoakedContainer {
  service: string;
  /** At the beginning, after a tenth of the time, at the end, and the most of all samples; in MB. */
  memoryMb: { begin: number; tenth: number; end: number; most: number };
  restarts: number;
  logMb: number;
  /** What was wrong with it, at whatever time. */
  wrong: string[];
}

/** What came of the time under load. */
export interface SoakReport extends LoadReport, Effects {
  containers: SoakedContainer[];
  /** Accepted jobs. */
  jobs: number;
  succeeded: number;
  /** The longest from the creation of a job to its end. */
  slowestJobSeconds: number;
  ledgerSound: boolean;
}

const sampleMs = 30_000;

/** Lets clients work for a time without any fault, waits until every job has ended, and counts. */
export async function soak(compose: Compose, tenant: Tenant, minutes: number, note: (line: string) => void): Promise<SoakReport> {
  await watchEffects(compose);
  const samples = [await measureContainers(compose)];
  const startedAt = Date.now();
  const endsAt = startedAt + minutes * 60_000;
  const load = new SteadyLoad(tenant);
  let tenth: ContainerUse[] | undefined;
  while (Date.now() < endsAt) {
    await load.during(delay(Math.min(sampleMs, endsAt - Date.now())));
    const sample = await measureContainers(compose);
    samples.push(sample);
    if (tenth !== undefined || Date.now() < startedAt + (endsAt - startedAt) / 10) continue;
    tenth = sample;
    note(`  a tenth of the time: ${tenant.accepted.size} jobs`);
  }
  const seen = await load.stop();
  await waitForEnd(compose);
  const effects = await countEffects(compose, tenant.organizationId, tenant.accepted);
  const { code } = await compose.exec('api', 'node', 'ops/main.ts', 'ledger');
  return {
    ...seen,
    ...effects,
    ...(await readJobs(compose, tenant.organizationId)),
    jobs: tenant.accepted.size,
    ledgerSound: code === 0,
    containers: await Promise.all(samples[0]?.map((first) => describe(first, samples, tenth)) ?? []),
  };
}

async function readJobs(compose: Compose, organizationId: string): Promise<{ succeeded: number; slowestJobSeconds: number }> {
  const [succeeded, slowest] = await compose.query(`
    select count(*)::text from job where organization_id = '${organizationId}' and status = 'succeeded'
    union all
    select coalesce(max(extract(epoch from finished_at - created_at)), 0)::text from job where organization_id = '${organizationId}'
  `);
  return { succeeded: Number(succeeded), slowestJobSeconds: Number(slowest) };
}

async function describe(first: ContainerUse, samples: ContainerUse[][], tenth: ContainerUse[] = []): Promise<SoakedContainer> {
  const all = samples.map((sample) => sample.find(({ id }) => id === first.id));
  const last = all.at(-1);
  return {
    service: first.service,
    memoryMb: {
      begin: first.memoryMb,
      tenth: tenth.find(({ id }) => id === first.id)?.memoryMb ?? 0,
      end: last?.memoryMb ?? 0,
      most: Math.max(...all.map((use) => use?.memoryMb ?? 0)),
    },
    restarts: last?.restarts ?? 0,
    logMb: await measureLog(first.id),
    wrong: findWrong(all),
  };
}

/** What was wrong with a container in one of the samples, each once; undefined is a sample in which it is absent. */
export function findWrong(samples: (Pick<ContainerUse, 'state' | 'health' | 'restarts'> | undefined)[]): string[] {
  const wrong = samples.flatMap((use) => {
    if (!use) return 'absent';
    const { state, health, restarts } = use;
    if (state !== 'running') return state;
    return [...(health === '' || health === 'healthy' ? [] : [health]), ...(restarts > (samples[0]?.restarts ?? 0) ? ['restarted'] : [])];
  });
  return [...new Set(wrong)];
}

/** Whether every container stayed as it was, and every job succeeded once. */
export function isSteady(report: SoakReport): boolean {
  const { jobs, succeeded, unfinished, lost, twice, notFound, ledgerSound, containers, searchableAfterSeconds } = report;
  const isWorkDone = jobs > 0 && succeeded === jobs && searchableAfterSeconds.length > 0 && ledgerSound;
  return isWorkDone && unfinished + lost + twice + notFound === 0 && containers.every(({ wrong }) => wrong.length === 0);
}
