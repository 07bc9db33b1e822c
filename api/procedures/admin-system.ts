import type { z } from 'zod';
import type { AiHealth } from '../../adapters/ai-service/client.ts';
import { late, within } from '../../base/concurrency/within.ts';
import { maxStuck } from '../../contract/admin.ts';
import { ApiError } from '../../contract/api-error.ts';
import { contract, version } from '../../contract/index.ts';
import { workflowIds } from '../../contract/intents/definitions.ts';
import { ping } from '../../db/connect.ts';
import { getMigrationStatus } from '../../db/migrate.ts';
import { inTransaction } from '../../db/transaction.ts';
import { chunkingOf, chunkSizeOf } from '../../domain/chunking/chunking.ts';
import { endOutage } from '../../domain/outages/note-up.ts';
import { listOutages, type Outage } from '../../domain/outages/outage.ts';
import { findStuck } from '../../domain/platform/find-stuck.ts';
import { countResources, measureQueue } from '../../domain/platform/measure-platform.ts';
import { findReadOnly } from '../../domain/platform/read-only.ts';
import { countAllBehind } from '../../domain/reindex/find-behind.ts';
import type { ApiDeps } from '../deps.ts';
import { procedure } from '../procedure.ts';

type SystemStatus = z.input<(typeof contract.admin.system.status.responses)[200]>;

/** The time limit for each service of the deployment. */
const timeoutMs = 3_000;
const startedAt = new Date(Date.now() - process.uptime() * 1_000);

export function adminSystemProcedures(deps: ApiDeps) {
  return {
    status: procedure(contract.admin.system.status, () => readSystemStatus(deps)),
    stuck: procedure(contract.admin.system.stuck, () => readStuck(deps)),
    outages: procedure(contract.admin.system.outages, async () => ({ items: (await listOutages(deps.db)).map(toOutage) })),
    endOutage: procedure(contract.admin.system.endOutage, async ({ input: { part }, actor }) => {
      const isEnded = await inTransaction(deps.db, (trx) => endOutage(trx, actor, part));
      if (!isEnded) throw new ApiError('NOT_FOUND', { message: `${part} is not known to be down.` });
      return { part };
    }),
  };
}

function toOutage({ part, cause, since, nextProbeAt, waiting }: Outage) {
  return { part, cause, since: since.toISOString(), nextProbeAt: nextProbeAt.toISOString(), waiting };
}

async function readStuck({ db, log, listWedged, config: { jobs, temporal } }: ApiDeps) {
  const { stuck, failure } = await findStuck(db, {
    ...{ jobTimeoutMs: jobs.timeoutMs, limit: maxStuck },
    listWedged: (work) => inTime(listWedged(work)),
  });
  if (failure) log.warn({ err: failure }, 'Temporal could not be asked which workflows cannot go on');
  const items = stuck.map(({ organization, what, id, ageSeconds, reason }) => ({
    what,
    id,
    organizationId: organization,
    ageSeconds,
    reason,
  }));
  const namespace = encodeURIComponent(temporal.namespace);
  return { items, jobWorkflowUrl: `${temporal.uiUrl}/namespaces/${namespace}/workflows/${workflowIds.runJob('')}` };
}

/** The status of each service of the deployment now. One that fails or does not respond in time is part of the result, not an error. */
async function readSystemStatus(deps: ApiDeps): Promise<SystemStatus> {
  const { config, storage } = deps;
  const [rows, { embeddings, ...ai }] = await Promise.all([readDatabase(deps), readAi(deps)]);
  const { enabled, pricesPro, pricesTeam } = config.billing;
  const unpriced = Object.entries({ pro: pricesPro, team: pricesTeam }).filter(([, prices]) => prices.length === 0);
  return {
    version,
    environment: config.environment,
    runtime: `Node.js ${process.versions.node}`,
    startedAt: startedAt.toISOString(),
    uptimeSeconds: Math.floor(process.uptime()),
    counts: rows.counts,
    database: rows.database,
    ...(rows.readOnly !== null && { readOnly: rows.readOnly }),
    ai,
    search: await readSearch(deps, embeddings[0]),
    // Temporal is part of every deployment.
    queue: { configured: true, worker: config.worker.enabled ? 'inline' : 'off', concurrency: config.worker.concurrency, ...rows.queue },
    storage: { driver: storage.driver, location: storage.location, maxUploadBytes: config.storage.maxUploadBytes },
    billing: { enabled, unpricedPlans: enabled ? unpriced.map(([plan]) => plan) : [] },
    email: { provider: config.email.provider, from: config.email.from },
    auth: { socialProviders: config.providers.map(({ id }) => id), requireEmailVerification: config.requireEmailVerification },
  };
}

type DatabaseStatus = Pick<SystemStatus, 'counts' | 'database'> & {
  queue: Pick<SystemStatus['queue'], 'depth' | 'running' | 'failed' | 'oldestQueuedAt'>;
  readOnly: string | null;
};

/** The status of the database. Its latency is the time of one empty query. */
async function readDatabase({ db }: ApiDeps): Promise<DatabaseStatus> {
  try {
    const { latencyMs } = await measure(ping(db));
    const reads = [getMigrationStatus(db), countResources(db), measureQueue(db), findReadOnly(db)] as const;
    const [migrations, counts, queue, readOnly] = await inTime(Promise.all(reads));
    return {
      database: { ok: true, latencyMs, error: null, migrations },
      counts,
      queue: { ...queue, oldestQueuedAt: queue.oldestQueuedAt?.toISOString() ?? null },
      readOnly,
    };
  } catch (error) {
    return {
      database: { ok: false, latencyMs: null, error: messageOf(error), migrations: null },
      counts: { users: 0, organizations: 0, workspaces: 0, subscriptions: 0 },
      queue: { depth: null, running: null, failed: null, oldestQueuedAt: null },
      readOnly: null,
    };
  }
}

async function readAi({ ai, config }: ApiDeps): Promise<SystemStatus['ai'] & { embeddings: AiHealth['embeddings'] | [] }> {
  const { url } = config.ai;
  try {
    const { latencyMs, value } = await measure(ai.health());
    const { ok, problems, provider, ocr, embeddings } = value;
    return { ok, latencyMs, error: null, url, problems, provider, ocr, embeddings };
  } catch (error) {
    return { ok: false, latencyMs: null, error: messageOf(error), url, problems: [], provider: null, ocr: null, embeddings: [] };
  }
}

/**
 * Counts the documents that are indexed by another model than that of the AI service. With millions of documents the count may time out; it
 * is then left out.
 */
async function readSearch({ db }: ApiDeps, own: AiHealth['embeddings'][number] | undefined): Promise<SystemStatus['search']> {
  if (!own) return { model: null, documents: null, documentsBehind: null };
  const { model, dimensions, chunkCharacters } = own;
  try {
    const target = { model, dimensions, chunking: chunkingOf(chunkSizeOf(chunkCharacters)) };
    const { documents, behind } = await inTime(countAllBehind(db, target));
    return { model, documents, documentsBehind: behind };
  } catch {
    return { model, documents: null, documentsBehind: null };
  }
}

/** Runs work, and measures its time in milliseconds, to a tenth. */
async function measure<T>(work: Promise<T>): Promise<{ value: T; latencyMs: number }> {
  const begun = performance.now();
  const value = await inTime(work);
  return { value, latencyMs: Math.round((performance.now() - begun) * 10) / 10 };
}

async function inTime<T>(work: Promise<T>): Promise<T> {
  const result = await within(timeoutMs, work);
  if (result === late) throw new Error(`No response within ${timeoutMs / 1_000} s.`);
  return result;
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.message || ('code' in error ? String(error.code) : error.name);
}
