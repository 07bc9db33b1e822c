import { fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { scan } from '../../../ai/support/scan.ts';
import { pdfBomb } from '../../bombs.ts';
import { prepareChunks } from '../support/chunks.ts';
import { type Effort, type Figure, toFigure } from '../support/figure.ts';
import type { Loudness, LoudTenant, Outcome } from '../support/loud-tenant.ts';
import { type QuietRequest, type QuietTenant, quietRequests, type Samples, startQuietTenant } from '../support/quiet-tenant.ts';
import { type Replicas, startReplicas, untilNothingWaits } from '../support/replicas.ts';
import { median, percentile } from '../support/rounds.ts';
import type { Service } from '../support/service.ts';

const loudnesses: Record<Loudness, string> = {
  nothing: 'nothing',
  lists: 'lists of large jobs',
  reads: 'lists of small rows',
  deletion: 'a large workspace deleted',
  searches: 'searches',
  'searches by words': 'searches by words',
  uploads: 'slow uploads',
  'sign-ups': 'sign-ups and invitations',
  files: 'hostile files',
  jobs: 'queued jobs',
};

const atMostFourTimes = { ratio: { atMost: 4 } };

/**
 * The p99 of a quiet tenant's requests and of its live events while another tenant does one thing with all its force, compared with the
 * same without it, in turns, and the quiet tenant's failed requests. On two APIs and three workers. Beside a tenant that does nothing it shows
 * how far two measurements of the same differ.
 */
export async function isolation({ quick }: Effort): Promise<Figure[]> {
  const rounds = quick ? 2 : 5;
  const roundMs = quick ? 4_000 : 24_000;
  const replicas = await startReplicas();
  try {
    const prepare = await prepareLoudTenant(replicas, quick);
    const quiet = await startQuietTenant(replicas);
    await quiet.measure(roundMs);
    const figures: Figure[] = [];
    for (const [loudness, name] of Object.entries(loudnesses) as [Loudness, string][]) {
      const measured = await compare(replicas, quiet, { rounds, roundMs, prepare: () => prepare(loudness) });
      figures.push(...judge(name, measured));
      process.stderr.write(`${name}: ${measured.outcome.served} served, ${measured.outcome.refused} refused\n`);
      for (const request of quietRequests) process.stderr.write(`  ${request}: ${p99s(measured.rounds, request).map(show).join(', ')}\n`);
    }
    quiet.close();
    return figures;
  } finally {
    await replicas.stop();
  }
}

interface Round {
  loud: Samples;
  alone: Samples;
}

interface Compared {
  rounds: Round[];
  outcome: Outcome;
}

function judge(name: string, { rounds }: Compared): Figure[] {
  const delays = quietRequests.map((request) => {
    const pairs = p99s(rounds, request);
    const measured = {
      value: median(pairs.map(({ loud }) => loud)),
      baseline: median(pairs.map(({ alone }) => alone)),
      // Now and then the machine's disk stalls for longer than anything else here, with or without the loud tenant.
      ratio: median(pairs.map(({ loud, alone }) => loud / alone)),
      unit: 'ms',
    };
    return toFigure(`${request}, p99, beside ${name}`, measured, atMostFourTimes);
  });
  const failed = rounds.reduce((total, { loud }) => total + loud.failed, 0);
  return [...delays, toFigure(`failed requests beside ${name}`, { value: failed, unit: 'requests' }, { atMost: 0 })];
}

function p99s(rounds: Round[], request: QuietRequest): { loud: number; alone: number }[] {
  const p99 = ({ ms }: Samples) => percentile(ms[request], 99);
  return rounds.map(({ loud, alone }) => ({ loud: p99(loud), alone: p99(alone) }));
}

function show({ loud, alone }: { loud: number; alone: number }): string {
  return `${loud.toFixed(1)} (alone ${alone.toFixed(1)})`;
}

interface Turns {
  rounds: number;
  roundMs: number;
  prepare: () => Promise<LoudTenant>;
}

/** Measures the quiet tenant alone and beside the loud one in turns. Each turn begins when nothing of the last one waits. */
async function compare({ service }: Replicas, quiet: QuietTenant, { rounds, roundMs, prepare }: Turns): Promise<Compared> {
  const measured: Round[] = [];
  const outcome: Outcome = { served: 0, refused: 0 };
  for (let round = 0; round < rounds; round++) {
    const tenant = await prepare();
    await untilNothingWaits(service);
    const alone = await quiet.measure(roundMs);
    await untilNothingWaits(service);
    const stop = await startLoudTenant(tenant);
    // Its connections are open by then.
    await delay(500);
    measured.push({ alone, loud: await quiet.measure(roundMs) });
    const { served, refused } = await stop();
    outcome.served += served;
    outcome.refused += refused;
  }
  await untilNothingWaits(service);
  return { rounds: measured, outcome };
}

async function startLoudTenant(tenant: LoudTenant): Promise<() => Promise<Outcome>> {
  const client = fork(new URL('../support/loud-tenant.ts', import.meta.url), { detached: true, serialization: 'advanced' });
  // Whoever waits for its messages would wait for ever.
  client.once(
    'exit',
    (code, signal) => signal !== 'SIGKILL' && client.emit('error', new Error(`The loud tenant ended: ${code ?? signal}`)),
  );
  client.send(tenant);
  await once(client, 'message');
  return async () => {
    client.send('stop');
    const [outcome] = (await once(client, 'message')) as [Outcome];
    client.kill('SIGKILL');
    return outcome;
  };
}

const largeJobs = 100;
const largeInput = 400_000;
const scannedLines = 40;

/** Makes the loud tenant: jobs with large inputs, a large workspace to search, and for each deletion others to delete. */
async function prepareLoudTenant({ service, urls }: Replicas, quick: boolean) {
  const chunks = quick ? 10_000 : 100_000;
  const owner = await signUp(service);
  const makeChunks = await prepareChunks(service);
  const workspaceId = await makeChunks(chunks, 'searched', owner);
  const page = await scan(Array.from({ length: scannedLines }, (_, line) => `Line ${line} of a page that is read by a machine.`));
  const files = [{ contentType: 'image/jpeg', bytes: page }, pdfBomb()];
  await service.pool.query(
    `insert into job (id, organization_id, kind, status, input, max_attempts, credits, credit_month, finished_at)
     select $1 || '-' || n, $1, 'text.summarize', 'canceled', jsonb_build_object('text', repeat('loud ', $3 / 5), 'maxSentences', 1), 1, 1,
       date_trunc('month', now()), now() from generate_series(1, $2::int) n`,
    [owner.organizationId, largeJobs, largeInput],
  );
  return async (loudness: Loudness): Promise<LoudTenant> => {
    const toDelete = loudness === 'deletion' ? [await makeChunks(chunks, `deleted-${randomUUID()}`, owner)] : [];
    return { loudness, urls, workspaceId, toDelete, files, ...owner };
  };
}

async function signUp(service: Service) {
  const { token } = await service.signUp();
  const slug = `loud-${randomUUID()}`;
  const { id } = await service.call('POST', '/api/auth/organization/create', { name: slug, slug }, token);
  return { token, organizationId: id as string };
}
