import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { ServiceName } from '../../local/stack.ts';
import type { TcpProxy } from '../../test/support/tcp-proxy.ts';
import type { Service } from './service.ts';
import type { Tenant } from './tenant.ts';

/** What was measured when a cut began, when it ended, at most, and once a tenant was served again. */
export interface Course {
  before: number;
  atEnd: number;
  most: number;
  after: number;
}

/** What a cut of the network did to the processes, and how soon a tenant was served after it. */
export interface CutReport {
  /** Resident memory in MB. */
  apiMb: Course;
  workerMb: Course;
  /** Of both processes: mostly connections. */
  openFiles: Course;
  /** The requests of lists during the cut: how many, how many of them were refused with 503, and the slowest one in seconds. */
  requests: { sent: number; refused: number; slowestSeconds: number };
  /** From the end of the cut until a tenant that had asked for nothing meanwhile has uploaded a document and has it indexed. */
  goesOnSeconds: number;
}

const sampleMs = 500;
const goesOnMs = 30_000;
const askers = 8;
const askMs = 250;
/** What an API may use, whatever happens. A worker keeps open workflows in memory, up to a number of its own. */
const mostMb = 512;

export interface CutOptions {
  way: TcpProxy;
  forMs: number;
  tenants: Tenant[];
  /** Asks for nothing during the cut. */
  quiet: Tenant;
}

/** Lets nothing pass on a way for a time, and watches the service meanwhile and until it serves again. */
export async function watchCut(service: Service, { way, forMs, tenants, quiet }: CutOptions): Promise<CutReport> {
  const watch = startWatch(service);
  try {
    const asking = startAsking(tenants);
    way.silence();
    await delay(forMs);
    const requests = await asking.stop();
    watch.endCut();
    way.resume({ forget: true });
    const resumedAt = performance.now();
    await serve(service, quiet);
    const goesOnSeconds = Math.round((performance.now() - resumedAt) / 100) / 10;
    return { ...watch.read(), requests, goesOnSeconds };
  } finally {
    watch.stop();
  }
}

/** How many promises of a cut were broken: that all goes on soon, and that memory stays bounded. */
export function countBroken({ goesOnSeconds, apiMb }: CutReport): number {
  return [goesOnSeconds > goesOnMs / 1_000, apiMb.most > mostMb].filter(Boolean).length;
}

/** Uploads a document and indexes it; until then, or for two minutes at most. */
async function serve({ db }: Service, tenant: Tenant): Promise<void> {
  const documentId = await tenant.upload('The cable to the island is mended, and the lamp is lit again.');
  const id = await tenant.createJob({ kind: 'document.index', documentId });
  for (const deadline = Date.now() + 4 * goesOnMs; Date.now() < deadline; await delay(100)) {
    const job = await db.selectFrom('job').select('status').where('id', '=', id).executeTakeFirst();
    if (job?.status === 'succeeded') return;
  }
}

/** Samples the processes. Where there is no `/proc` all figures are 0, and of a process that is gone they are the last ones. */
function startWatch({ stack }: Service) {
  const residentOf = (name: ServiceName) => {
    const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${stack.pid(name)}/status`, 'utf8')) ?? [];
    if (kilobytes === undefined) throw new Error(`${name} is gone.`);
    return Math.round(Number(kilobytes) / 1_024);
  };
  const filesOf = (name: ServiceName) => readdirSync(`/proc/${stack.pid(name)}/fd`).length;
  const figures = {
    apiMb: () => residentOf('api'),
    workerMb: () => residentOf('worker'),
    openFiles: () => filesOf('api') + filesOf('worker'),
  };
  const series = Object.entries(figures).map(([name, read]) => ({ name, read, seen: [] as number[], atEnd: 0 }));
  const sample = () => {
    for (const { read, seen } of series) {
      try {
        seen.push(read());
      } catch {
        // Whether the process may be gone, the counts after the fault tell.
      }
    }
  };
  sample();
  const timer = setInterval(sample, sampleMs);
  return {
    stop: () => clearInterval(timer),
    endCut(): void {
      sample();
      for (const one of series) one.atEnd = one.seen.at(-1) ?? 0;
    },
    read(): Pick<CutReport, keyof typeof figures> {
      sample();
      const courseOf = ({ seen, atEnd }: (typeof series)[number]): Course => {
        return { before: seen[0] ?? 0, atEnd, most: Math.max(0, ...seen), after: seen.at(-1) ?? 0 };
      };
      return Object.fromEntries(series.map((one) => [one.name, courseOf(one)])) as Pick<CutReport, keyof typeof figures>;
    },
  };
}

/** Several clients that read lists all the time, whatever the response is. */
function startAsking(tenants: Tenant[]) {
  const requests: CutReport['requests'] = { sent: 0, refused: 0, slowestSeconds: 0 };
  let stopped = false;
  const loops = Array.from({ length: askers }, async (_, index) => {
    for (const tenant = tenants[index % tenants.length] as Tenant; !stopped; await delay(askMs)) {
      const startedAt = performance.now();
      const status = await tenant.tryToListJobs();
      const seconds = Math.round((performance.now() - startedAt) / 100) / 10;
      requests.sent++;
      if (status === 503) requests.refused++;
      requests.slowestSeconds = Math.max(requests.slowestSeconds, seconds);
    }
  });
  return {
    async stop(): Promise<CutReport['requests']> {
      stopped = true;
      await Promise.all(loops);
      return requests;
    },
  };
}
