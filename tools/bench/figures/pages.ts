import { randomUUID } from 'node:crypto';
import { get } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { type Figure, type Measure, toFigure } from '../support/figure.ts';
import { percentile } from '../support/rounds.ts';
import type { Service } from '../support/service.ts';

const largeJobs = 100;
/** Characters of each text: more cannot be sent, and texts that do not compress are the worst. */
const textLength = 200_000;
const readers = 10;
const rounds = 5;
const quietMs = 3_000;
const pauseBetweenRequestsMs = 10;

/**
 * A tenant with a hundred jobs of 200,000 characters lists them, ten requests at a time, then resumes ten streams before them: the memory of
 * the API, and how long `GET /me` of another tenant takes meanwhile, beside the same without it.
 */
export const pages: Measure = async (service) => {
  await seed(service);
  const quiet = await service.signUp();
  const measured = (loud: () => Promise<unknown>) => beside(service, quiet.token, loud);
  await measured(() => delay(1_000));
  const idle = await measured(() => delay(quietMs));
  const list = await measured(() => inParallel(readers, () => listAll(service)));
  const slow = await measured(() => inParallel(readers, () => listWithoutReading(service)));
  const resumed = await measured(() => inParallel(5, () => resumeStream(service)));
  return [
    ...figures('ten lists of large jobs', list, idle),
    ...figures('forty lists that are not read', slow, idle),
    ...figures('five streams that resume before large jobs', resumed, idle),
  ];
};

interface Beside {
  latenciesMs: number[];
  peakMb: number;
}

function figures(name: string, loud: Beside, idle: Beside): Figure[] {
  const of = (percent: number) => ({
    value: percentile(loud.latenciesMs, percent),
    baseline: percentile(idle.latenciesMs, percent),
    unit: 'ms',
  });
  return [
    toFigure(`${name}: memory of the API`, { value: loud.peakMb, baseline: idle.peakMb, unit: 'MB' }, { atMost: 512 }),
    toFigure(`${name}: GET /me of another tenant, p50`, of(50)),
    toFigure(`${name}: GET /me of another tenant, p99`, of(99)),
    toFigure(`${name}: GET /me of another tenant, longest`, of(100)),
  ];
}

/** The times that `GET /me` takes for another tenant while `loud` runs, and the most memory that the API has. */
async function beside(service: Service, token: string, loud: () => Promise<unknown>): Promise<Beside> {
  const latenciesMs: number[] = [];
  let peakMb = 0;
  let running = true;
  const sampler = setInterval(() => {
    peakMb = Math.max(peakMb, service.memoryMb());
  }, 20);
  const quiet = (async () => {
    while (running) {
      const startedAt = performance.now();
      await service.call('GET', '/api/v1/me', undefined, token);
      latenciesMs.push(performance.now() - startedAt);
      await delay(pauseBetweenRequestsMs);
    }
  })();
  try {
    await loud();
  } finally {
    running = false;
    await quiet;
    clearInterval(sampler);
  }
  return { latenciesMs, peakMb };
}

/** Failed jobs, whose texts are kept to be retried. The texts are digits at random, so that they hardly compress. */
async function seed(service: Service): Promise<void> {
  await service.pool.query(
    `insert into job (id, organization_id, kind, status, input, error_code, error_message, max_attempts, credits, credit_month, finished_at, updated_at)
     select $1 || n, $2, 'text.summarize', 'failed',
       jsonb_build_object('maxSentences', 5, 'text', left((select string_agg(md5(n::text || i), '') from generate_series(1, $4::int / 32 + 1) i), $4)),
       'timeout', 'The attempt took too long.', 4, 5, date_trunc('month', now()), now(), now()
     from generate_series(1, $3::int) n`,
    [`${randomUUID()}-`, service.organizationId, largeJobs, textLength],
  );
}

async function inParallel(count: number, work: () => Promise<unknown>): Promise<void> {
  await Promise.all(Array.from({ length: count }, work));
}

/** Reads the list from its beginning to its end, several times. Looks at little of it, since this process measures, too. */
async function listAll(service: Service): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    let seen = 0;
    for (let cursor: string | undefined = ''; cursor !== undefined; ) {
      const query = cursor === '' ? '' : `&cursor=${cursor}`;
      const page = await download(service, `/api/v1/organizations/${service.organizationId}/jobs?limit=100${query}`);
      seen += page.jobs;
      cursor = /"nextCursor":"([^"]+)"/.exec(page.end)?.[1];
    }
    if (seen !== largeJobs) throw new Error(`the list had ${seen} jobs`);
  }
}

const jobMark = Buffer.from('"kind":"text.summarize"');

function download(service: Service, path: string): Promise<{ jobs: number; end: string }> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${service.token}` };
    const request = get(`${service.url}${path}`, { agent: false, headers }, (response) => {
      let jobs = 0;
      let end = Buffer.alloc(0);
      response.on('data', (chunk: Buffer) => {
        jobs += countMarks(Buffer.concat([end.subarray(-jobMark.length + 1), chunk]));
        end = Buffer.concat([end, chunk.subarray(-200)]).subarray(-200);
      });
      response.on('end', () =>
        response.statusCode === 200 ? resolve({ jobs, end: end.toString() }) : reject(new Error(`${path}: ${response.statusCode} ${end}`)),
      );
    });
    request.on('error', reject);
  });
}

function countMarks(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(jobMark); at >= 0; at = bytes.indexOf(jobMark, at + 1)) count++;
  return count;
}

/** Asks for four lists, reads nothing of them for a while, and hangs up. */
async function listWithoutReading(service: Service): Promise<void> {
  const open = Array.from({ length: 4 }, () => {
    const request = get(`${service.url}/api/v1/organizations/${service.organizationId}/jobs?limit=100`, {
      agent: false,
      headers: { authorization: `Bearer ${service.token}` },
    });
    request.on('response', (response) => response.pause()).on('error', () => {});
    return request;
  });
  await delay(5_000);
  for (const request of open) request.destroy();
}

/** Opens a stream before the jobs, and reads all of them. */
async function resumeStream(service: Service): Promise<void> {
  const url = `${service.url}/api/v1/organizations/${service.organizationId}/jobs/stream`;
  const headers = { authorization: `Bearer ${service.token}` };
  const first = await fetch(url, { headers, signal: AbortSignal.timeout(60_000) });
  const lastEventId = first.headers.get('last-event-id') ?? '';
  await first.body?.cancel();
  await touch(service);
  const resumed = await fetch(url, { headers: { ...headers, 'last-event-id': lastEventId }, signal: AbortSignal.timeout(60_000) });
  let events = 0;
  let end = Buffer.alloc(0);
  for await (const chunk of resumed.body ?? []) {
    events += countMarks(Buffer.concat([end, chunk]));
    end = Buffer.from(chunk.slice(-jobMark.length + 1));
    if (events >= largeJobs) return;
  }
  throw new Error(`the stream ended after ${events} events`);
}

function touch(service: Service): Promise<unknown> {
  return service.pool.query('update job set updated_at = clock_timestamp() where organization_id = $1', [service.organizationId]);
}
