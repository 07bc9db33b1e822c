import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { startOptions } from '../../../temporal/start-options.ts';
import { mainTaskQueue, type StartIntent, startJob } from '../../../workflows/definitions.ts';
import { type Effort, type Figure, toFigure } from '../support/figure.ts';
import { median, perSecond, rate } from '../support/rounds.ts';
import { type Service, startService } from '../support/service.ts';

const tenants = 5;
/** As many as the relay has on their way at once. */
const concurrency = 100;
const catchUp = 100_000;
const settings = { jobTimeoutMs: 120_000 };
/** No attempt of the jobs runs: what is measured are the starts, and the first task of each workflow. */
const env = { WORKER_JOB_KINDS: 'document.extract' };

/**
 * How fast the workflows of queued jobs that have none are started, as after Temporal's database was lost: beside the client that starts the
 * same workflows on the same server, a hundred at once. The first ones wait when the service starts.
 */
export async function backlog({ quick, jobs = quick ? 500 : 5_000 }: Effort): Promise<Figure[]> {
  const service = await startService(env);
  const connection = await Connection.connect({ address: service.stack.temporalAddress });
  try {
    const temporal = new Client({ connection });
    // That of each minute would start jobs, too, beside the one that is measured.
    await temporal.schedule.getHandle('sweep-jobs').pause();
    const organizations = await createTenants(service);
    const starts = new Starts(service, temporal, organizations);
    await service.stack.kill('api', 'SIGTERM');
    await starts.lose(jobs);
    await service.stack.start('api');
    const pairs = [{ swept: await starts.sweep(jobs), bare: await starts.startBare(jobs) }];
    if (!quick) {
      const bare = await starts.startBare(jobs);
      await starts.lose(jobs);
      pairs.push({ swept: await starts.sweep(jobs), bare });
    }
    const value = median(pairs.map(({ swept }) => swept));
    const baseline = median(pairs.map(({ bare }) => bare));
    const ratio = pairs.reduce((sum, { swept, bare }) => sum + swept / bare, 0) / pairs.length;
    return [
      toFigure(`${jobs} jobs without workflows: starts`, { value, baseline, ratio, unit: 'starts/s' }, { ratio: { atLeast: 0.8 } }),
      toFigure('100,000 of them at that rate', { value: catchUp / value / 60, baseline: catchUp / baseline / 60, unit: 'min' }),
    ];
  } finally {
    await connection.close();
    await service.stop();
  }
}

async function createTenants(service: Service): Promise<string[]> {
  const organizations = [service.organizationId];
  while (organizations.length < tenants) {
    const slug = `backlog-${randomUUID()}`;
    organizations.push((await service.call('POST', '/api/auth/organization/create', { name: slug, slug })).id);
  }
  return organizations;
}

class Starts {
  readonly #service: Service;
  readonly #temporal: Client;
  readonly #organizations: string[];
  #started = 0;

  constructor(service: Service, temporal: Client, organizations: string[]) {
    this.#service = service;
    this.#temporal = temporal;
    this.#organizations = organizations;
  }

  /** Queues jobs of all tenants long ago, without a workflow. */
  async lose(jobs: number): Promise<void> {
    await this.#service.pool.query(
      `insert into job (id, organization_id, kind, status, input, max_attempts, credits, credit_month, created_at)
       select $1 || n, ($2::text[])[1 + n % $3], 'text.embed', 'queued', '{"texts":["a"]}', 4, 1, date_trunc('month', now()), now() - interval '1 hour'
       from generate_series(1, $4::int) n`,
      [`${randomUUID()}-`, this.#organizations, tenants, jobs],
    );
  }

  /** Sweeps until every job has its workflow. Returns starts per second. */
  async sweep(jobs: number): Promise<number> {
    await this.#untilCalm();
    const workflowId = `backlog-${randomUUID()}`;
    const perSecond = await rate(jobs, async () => {
      await this.#temporal.workflow.start('sweepJobs', { taskQueue: mainTaskQueue, workflowId, args: [] });
      while (await this.#isWaiting()) await delay(20);
    });
    await this.#expectStarted(jobs);
    return perSecond;
  }

  /** Starts the same workflows, of jobs that are not there. Returns starts per second. */
  async startBare(jobs: number): Promise<number> {
    await this.#untilCalm();
    const round = randomUUID();
    const started = await perSecond(jobs, concurrency, (n) => {
      const organizationId = this.#organizations[n % tenants] as string;
      const job = { jobId: `${round}-${n}`, kind: 'text.embed', organizationId, workspaceId: null, documentId: null } as const;
      const intent = startJob(job, undefined) as StartIntent;
      return this.#temporal.workflow.start(intent.workflow, startOptions(intent, settings));
    });
    await this.#expectStarted(jobs);
    return started;
  }

  async #isWaiting(): Promise<boolean> {
    const { rows } = await this.#service.pool.query<{ waiting: boolean }>(
      `select exists (select from outbox) or exists (select from job where status = 'queued' and swept_at is null) as waiting`,
    );
    return rows[0]?.waiting ?? true;
  }

  /** Waits until the workers have done the first tasks of what was started before. */
  async #untilCalm(): Promise<void> {
    for (const deadline = Date.now() + 300_000; Date.now() < deadline; await delay(200)) {
      const { stats } = await this.#temporal.workflowService.describeTaskQueue({
        namespace: 'default',
        taskQueue: { name: mainTaskQueue },
        taskQueueType: 1,
        reportStats: true,
      });
      if (Number(stats?.approximateBacklogCount ?? 0) === 0) return;
    }
    throw new Error('The workers have not done the first tasks of the workflows within five minutes.');
  }

  /** A figure counts only if each job has a workflow of its own. */
  async #expectStarted(jobs: number): Promise<void> {
    this.#started += jobs;
    for (const deadline = Date.now() + 60_000; Date.now() < deadline; await delay(200)) {
      const { count } = await this.#temporal.workflow.count(`WorkflowType = 'runJob' and ExecutionStatus = 'Running'`);
      if (count === this.#started) return;
    }
    throw new Error(`Not all ${this.#started} workflows run.`);
  }
}
