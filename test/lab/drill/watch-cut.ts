import { setTimeout as delay } from 'node:timers/promises';
import type { TcpProxy } from '../../support/tcp-proxy.ts';
import type { Service } from './service.ts';
import type { Tenant } from './tenant.ts';
import { watchMemory } from './watch-memory.ts';

/** What a cut of the network did to the API, and how soon a tenant was served after it. */
export interface CutReport {
  /** The most resident memory of the API, in MB; 0 where there is no `/proc`. */
  apiMb: number;
  /** From the end of the cut until a tenant that had asked for nothing meanwhile has uploaded a document and has it indexed. */
  goesOnSeconds: number;
}

const goesOnMs = 30_000;
const askers = 8;
const askMs = 250;
/** What an API may use, whatever happens. A worker keeps open workflows in memory, up to a number of its own. */
const mostMb = 512;

interface CutOptions {
  way: TcpProxy;
  forMs: number;
  tenants: Tenant[];
  /** Asks for nothing during the cut. */
  quiet: Tenant;
}

/** Lets nothing pass on a way for a time, while clients read lists, and watches the API until it serves again. */
export async function watchCut(service: Service, { way, forMs, tenants, quiet }: CutOptions): Promise<CutReport> {
  const stopWatching = watchMemory(service.stack, 'api');
  try {
    const stopAsking = startAsking(tenants);
    way.silence();
    await delay(forMs);
    await stopAsking();
    way.resume({ forget: true });
    const resumedAt = performance.now();
    await serve(service, quiet);
    return { apiMb: stopWatching(), goesOnSeconds: Math.round((performance.now() - resumedAt) / 100) / 10 };
  } finally {
    stopWatching();
  }
}

/** How many promises of a cut were broken: that all goes on soon, and that memory stays bounded. */
export function countBroken({ goesOnSeconds, apiMb }: CutReport): number {
  return [goesOnSeconds > goesOnMs / 1_000, apiMb > mostMb].filter(Boolean).length;
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

/** Several clients that read lists all the time, whatever the response is. Returns what stops them. */
function startAsking(tenants: Tenant[]): () => Promise<unknown> {
  let stopped = false;
  const loops = Array.from({ length: askers }, async (_, index) => {
    for (const tenant = tenants[index % tenants.length] as Tenant; !stopped; await delay(askMs)) await tenant.tryToListJobs();
  });
  return () => {
    stopped = true;
    return Promise.all(loops);
  };
}
