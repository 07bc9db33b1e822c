import { globSync, statSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { prepareChunks } from '../support/chunks.ts';
import { type Measure, toFigure } from '../support/figure.ts';
import { watchJobs } from '../support/job-watch.ts';
import { perSecond } from '../support/rounds.ts';
import type { Service } from '../support/service.ts';
import { openStreams, signUpMember, streamsPerUser } from '../support/streams.ts';

const usersWithStreams = 100;
/** By then an idle process has returned its memory. */
const restMs = 20_000;

/** What a job, a chunk and an open stream take: bytes in the databases with their indexes, and memory of the API. For docs/capacity.md. */
export const sizes: Measure = async (service, { quick }) => {
  const jobs = quick ? 200 : 2_000;
  const watch = await watchJobs(service);
  const body = { organizationId: service.organizationId, kind: 'text.embed', texts: ['The petals of the dome open at dusk.'] };
  const run = async () => watch.finished((await service.call('POST', '/api/v1/jobs', body)).id);
  const perJob = await growth(service, jobs, () => perSecond(jobs, 8, run));
  watch.close();

  const chunks = quick ? 10_000 : 50_000;
  const seed = await prepareChunks(service);
  await seed(1_000, 'sizes-before');
  const perChunk = await growth(service, chunks, () => seed(chunks, 'sizes'));

  const tokens: string[] = [];
  // One after another: hashing a password takes a processor for a while.
  while (tokens.length < usersWithStreams) tokens.push(await signUpMember(service));
  await delay(restMs);
  const idleMb = service.memoryMb();
  const close = await openStreams(`${service.url}/api/v1/organizations/${service.organizationId}/jobs/stream`, tokens, () => {});
  await delay(restMs);
  const streams = usersWithStreams * streamsPerUser;
  const perStream = ((service.memoryMb() - idleMb) * 1_024) / streams;
  close();
  return [
    toFigure('a finished job in Postgres', { value: perJob.postgres, unit: 'bytes' }),
    toFigure('a finished job in the embedded Temporal', { value: perJob.temporal, unit: 'bytes' }),
    toFigure('a chunk of 900 characters in Postgres, searchable in every mode', { value: perChunk.postgres, unit: 'bytes' }),
    toFigure(`an open stream in the API, of ${streams}`, { value: perStream, unit: 'kB' }),
  ];
};

/** How many bytes each of `count` things has added. */
async function growth(service: Service, count: number, add: () => Promise<unknown>): Promise<{ postgres: number; temporal: number }> {
  const before = await measure(service);
  await add();
  const after = await measure(service);
  return { postgres: (after.postgres - before.postgres) / count, temporal: (after.temporal - before.temporal) / count };
}

async function measure(service: Service): Promise<{ postgres: number; temporal: number }> {
  await service.pool.query('vacuum');
  const { rows } = await service.pool.query<{ bytes: number }>('select pg_database_size(current_database())::float8 as bytes');
  const files = globSync(`${service.stack.dataDir}/temporal.db*`);
  return { postgres: rows[0]?.bytes ?? 0, temporal: files.reduce((sum, file) => sum + statSync(file).size, 0) };
}
