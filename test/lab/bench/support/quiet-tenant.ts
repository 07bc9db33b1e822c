import { randomUUID } from 'node:crypto';
import { Agent } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { addDocument } from './documents.ts';
import type { Replicas } from './replicas.ts';
import { callJson, type Service } from './service.ts';
import { insertEndedJob, openStream } from './streams.ts';

/** What the quiet tenant does; `stream` is the time from the insertion of a job to its event on both streams. */
export const quietRequests = ['documents.get', 'jobs.create', 'documents.search', 'stream'] as const;
export type QuietRequest = (typeof quietRequests)[number];

/** The durations in milliseconds, and how many requests had no success. */
export interface Samples {
  ms: Record<QuietRequest, number[]>;
  failed: number;
}

const everyMs: Record<QuietRequest, number> = { 'documents.get': 50, 'jobs.create': 200, 'documents.search': 200, stream: 100 };

/** The service's own tenant: it sends a few requests a second to the APIs in turn, and has a stream open at each. */
export interface QuietTenant {
  /** Sends requests for so long, at fixed times: one that waits delays no other. */
  measure(ms: number): Promise<Samples>;
  close(): void;
}

/** Makes its document and opens its streams. */
export async function startQuietTenant({ service, urls }: Replicas): Promise<QuietTenant> {
  const agent = new Agent({ keepAlive: true });
  const call = (url: string, method: string, path: string, body?: unknown) => callJson(agent, `${url}${path}`, method, body, service.token);
  const documentId = await addDocument(service, 'quiet', 'The mirrors of the telescope are cleaned with carbon dioxide snow.');
  const arrivals = new Map<string, () => void>();
  const { organizationId, workspaceId, token } = service;
  const stream = `/api/v1/organizations/${organizationId}/jobs/stream`;
  const closers = await Promise.all(urls.map((url) => openStream(`${url}${stream}`, token, (jobId) => arrivals.get(jobId)?.())));
  const requests: Record<QuietRequest, (url: string) => Promise<unknown>> = {
    'documents.get': (url) => call(url, 'GET', `/api/v1/documents/${documentId}`),
    'jobs.create': (url) => call(url, 'POST', '/api/v1/jobs', { organizationId, kind: 'text.embed', texts: ['A quiet text.'] }),
    'documents.search': (url) => call(url, 'POST', `/api/v1/workspaces/${workspaceId}/documents/search`, { query: 'clean mirrors' }),
    stream: () => untilStreamed(service, urls.length, arrivals),
  };
  return {
    measure: (ms) => measure(requests, urls, ms),
    close() {
      for (const close of closers) close();
      agent.destroy();
    },
  };
}

async function measure(requests: Record<QuietRequest, (url: string) => Promise<unknown>>, urls: string[], forMs: number) {
  const samples: Samples = { ms: { 'documents.get': [], 'jobs.create': [], 'documents.search': [], stream: [] }, failed: 0 };
  const until = performance.now() + forMs;
  const send = async (name: QuietRequest, url: string) => {
    const startedAt = performance.now();
    await requests[name](url).catch(() => samples.failed++);
    samples.ms[name].push(performance.now() - startedAt);
  };
  await Promise.all(
    quietRequests.map(async (name) => {
      const sent: Promise<void>[] = [];
      for (let turn = 0; performance.now() < until; turn++) {
        sent.push(send(name, urls[turn % urls.length] ?? ''));
        await delay(everyMs[name]);
      }
      await Promise.all(sent);
    }),
  );
  return samples;
}

/** Inserts a job, and waits until each stream has told it. */
async function untilStreamed(service: Service, streams: number, arrivals: Map<string, () => void>): Promise<void> {
  const jobId = randomUUID();
  const told = Promise.withResolvers<void>();
  let left = streams;
  arrivals.set(jobId, () => {
    left--;
    if (left === 0) told.resolve();
  });
  const tooLate = AbortSignal.timeout(60_000);
  tooLate.addEventListener('abort', () => told.reject(new Error('no event within a minute')), { once: true });
  try {
    await Promise.all([insertEndedJob(service, jobId, service.organizationId), told.promise]);
  } finally {
    arrivals.delete(jobId);
  }
}
