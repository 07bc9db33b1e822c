import { randomUUID } from 'node:crypto';
import { Agent, get } from 'node:http';
import pg from 'pg';
import { type Measure, toFigure } from '../support/figure.ts';
import { percentile } from '../support/rounds.ts';
import type { Service } from '../support/service.ts';

const streams = 200;
const perUser = 5;
const changes = 100;

/** The time from a commit to its event on each of 200 open streams, minus the time of a bare NOTIFY. */
export const stream: Measure = async (service) => {
  const users = await Promise.all(Array.from({ length: streams / perUser }, () => member(service)));
  const listener = new pg.Client({ connectionString: service.stack.databaseUrl });
  await listener.connect();
  await listener.query('listen job_changed');
  const arrivals = new Map<string, number[]>();
  const close = await openStreams(service, users, (jobId) => arrivals.get(jobId)?.push(performance.now()));
  const over: number[] = [];
  try {
    for (let change = 0; change < changes; change++) over.push(...(await measureChange(service, listener, arrivals)));
  } finally {
    close();
    await listener.end();
  }
  return [
    toFigure('commit to event, 200 streams, p50 over NOTIFY', { value: percentile(over, 50), unit: 'ms' }, { atMost: 20 }),
    toFigure('commit to event, 200 streams, p99 over NOTIFY', { value: percentile(over, 99), unit: 'ms' }, { atMost: 100 }),
  ];
};

async function member(service: Service): Promise<string> {
  const { id, token } = await service.signUp();
  await service.pool.query(`insert into member (id, "organizationId", "userId", role, "createdAt") values ($1, $2, $3, 'member', now())`, [
    randomUUID(),
    service.organizationId,
    id,
  ]);
  return token;
}

/** Opens all streams and waits for the headers of each. */
async function openStreams(service: Service, tokens: string[], onJob: (jobId: string) => void): Promise<() => void> {
  const agent = new Agent({ keepAlive: true });
  const url = `${service.url}/api/v1/organizations/${service.organizationId}/jobs/stream`;
  const open = (token: string) =>
    new Promise<void>((resolve, reject) => {
      get(url, { agent, headers: { authorization: `Bearer ${token}` } }, (res) => {
        res.setEncoding('utf8').on('data', (text: string) => {
          for (const [, id] of text.matchAll(/^data: \{"id":"([^"]+)"/gm)) if (id) onJob(id);
        });
        res.on('error', () => {});
        resolve();
      }).on('error', reject);
    });
  await Promise.all(tokens.flatMap((token) => Array.from({ length: perUser }, () => open(token))));
  return () => agent.destroy();
}

/** Inserts a job without a workflow. Returns each stream's delay after the notification, in milliseconds. */
async function measureChange(service: Service, listener: pg.Client, arrivals: Map<string, number[]>): Promise<number[]> {
  const jobId = randomUUID();
  const times: number[] = [];
  arrivals.set(jobId, times);
  const notified = new Promise<number>((resolve) => {
    const hear = ({ payload }: pg.Notification) => {
      if (!payload?.endsWith(jobId)) return;
      listener.off('notification', hear);
      resolve(performance.now());
    };
    listener.on('notification', hear);
  });
  await service.pool.query(
    `insert into job (id, organization_id, kind, status, input, max_attempts, credits, credit_month, finished_at)
     values ($1, $2, 'text.embed', 'canceled', '{"texts":["a"]}', 1, 1, '2026-01-01', now())`,
    [jobId, service.organizationId],
  );
  const base = await notified;
  while (times.length < streams) await new Promise((resolve) => setTimeout(resolve, 5));
  arrivals.delete(jobId);
  return times.map((at) => at - base);
}
