import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { findFreePorts } from '../../../../ops/local/ports.ts';
import { startBaseline } from '../support/baseline.ts';
import { type Measure, toFigure } from '../support/figure.ts';
import { median, percentile } from '../support/rounds.ts';
import type { Service } from '../support/service.ts';
import { insertEndedJob, openStreams, signUpMember, streamsPerUser } from '../support/streams.ts';

const streams = 200;
const changes = 20;
/** The first changes of a round, which find new connections and code that is not compiled yet. */
const warmUps = 3;

/**
 * The time from the notification of a commit to its event on each of 200 open streams, compared with a bare listener that writes every
 * notification to as many responses. The two take turns: the changes of the baseline are another organization's, and its responses are open
 * only for them.
 */
export const stream: Measure = async (service, { rounds }) => {
  const users: string[] = [];
  // One after the other: more passwords at once than are hashed would be refused.
  while (users.length < streams / streamsPerUser) users.push(await signUpMember(service));
  const slug = `stream-${randomUUID()}`;
  const { id: otherId } = await service.call('POST', '/api/auth/organization/create', { name: slug, slug });
  const listener = new pg.Client({ connectionString: service.stack.databaseUrl });
  await listener.connect();
  await listener.query('listen job_changed');
  const [port = 0] = await findFreePorts(1);
  const bareUrl = `http://127.0.0.1:${port}/`;
  const baseline = await startBaseline(service, 'bare-listener.ts', [service.stack.databaseUrl, String(port)], bareUrl);
  const arrivals = new Map<string, number[]>();
  const onJob = (jobId: string) => arrivals.get(jobId)?.push(performance.now());
  const url = `${service.url}/api/v1/organizations/${service.organizationId}/jobs/stream`;
  const close = await openStreams(url, users, onJob);
  const ours = () => measureChanges(service, service.organizationId, listener, arrivals);
  const bare = async () => {
    const closeBare = await openStreams(bareUrl, users, onJob);
    return measureChanges(service, otherId, listener, arrivals).finally(closeBare);
  };
  const pairs: Array<[number[], number[]]> = [];
  try {
    await ours();
    for (let round = 0; round < rounds(7); round++) pairs.push([await ours(), await bare()]);
  } finally {
    close();
    await listener.end();
    await baseline.stop();
  }
  return [50, 99].map((percent) =>
    toFigure(`commit to event, 200 streams, p${percent}`, { ...compare(pairs, percent), unit: 'ms' }, { ratio: { atMost: 3 } }),
  );
};

/** Medians of a percentile of each round. */
function compare(pairs: Array<[number[], number[]]>, percent: number) {
  const percentiles = pairs.map(([ours, bare]) => [percentile(ours, percent), percentile(bare, percent)] as const);
  return {
    value: median(percentiles.map(([value]) => value)),
    baseline: median(percentiles.map(([, base]) => base)),
    ratio: median(percentiles.map(([value, base]) => value / base)),
  };
}

/** The delays of an organization's changes on all streams, in milliseconds. */
async function measureChanges(service: Service, organizationId: string, listener: pg.Client, arrivals: Map<string, number[]>) {
  const over: number[] = [];
  for (let change = 0; change < warmUps + changes; change++) {
    const delays = await measureChange(service, organizationId, listener, arrivals);
    if (change >= warmUps) over.push(...delays);
  }
  return over;
}

/** Inserts a job. Returns each stream's delay after the notification, in milliseconds. */
async function measureChange(
  service: Service,
  organizationId: string,
  listener: pg.Client,
  arrivals: Map<string, number[]>,
): Promise<number[]> {
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
  await insertEndedJob(service, jobId, organizationId);
  const base = await notified;
  while (times.length < streams) await new Promise((resolve) => setTimeout(resolve, 5));
  arrivals.delete(jobId);
  return times.map((at) => at - base);
}
