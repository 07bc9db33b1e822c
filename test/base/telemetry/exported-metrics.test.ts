import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { sql } from 'kysely';
import pg from 'pg';
import { Registry } from 'prom-client';
import { parse } from 'yaml';
import { createAiClient } from '../../../adapters/ai-service/client.ts';
import { aiOutcomes, createServerMetrics } from '../../../adapters/metrics/server-metrics.ts';
import { loadServerConfig } from '../../../base/config/server.ts';
import { serveMetrics } from '../../../base/telemetry/serve-metrics.ts';
import { routes } from '../../../contract/index.ts';
import { jobKinds } from '../../../contract/jobs.ts';
import { findFreePorts } from '../../../ops/local/ports.ts';
import { startAiService } from '../../ai/support/ai-service.ts';
import { openJobStream } from '../../support/event-stream.ts';
import { insertJobOnly } from '../../support/jobs.ts';
import { nightly } from '../../support/nightly.ts';
import { until } from '../../support/processes.ts';
import { type Sample, sampleValue, scrape } from '../../support/scrape.ts';
import { startDatabaseProxy, type TcpProxy } from '../../support/tcp-proxy.ts';
import { withTimes } from '../../support/times.ts';
import { useApi } from '../../support/use-api.ts';

const summary = { kind: 'text.summarize', text: 'One sentence. Another sentence.', maxSentences: 1 };

/** The samples that the tests below saw, with traffic of every sort: by name and label, the values. */
const exported = new Map<string, Map<string, Set<string>>>();

function remember(samples: Sample[]): void {
  for (const { name, labels } of samples) {
    const known = exported.get(name) ?? new Map<string, Set<string>>();
    exported.set(name, known);
    for (const [label, value] of Object.entries(labels)) known.set(label, (known.get(label) ?? new Set()).add(value));
  }
}

describe('The metrics of the API', () => {
  let port = 0;
  let proxy: TcpProxy;
  const { api, tenant } = useApi({
    process: true,
    env: async () => {
      [port = 0] = await findFreePorts(1);
      return withTimes({ jobRetryDelays: [50] }, { METRICS_PORT: String(port) });
    },
  });
  before(async () => {
    const through = await startDatabaseProxy(api.database.url);
    proxy = through.proxy;
    await api.stack.restart('api', { DATABASE_URL: through.url });
  });
  after(() => proxy.stop());

  const request = (method: string, path: string, body?: object) =>
    api.request(method, `/api/v1${path}`, { token: tenant.owner.token, body });

  /** What a piece of work adds to a metric. The work is over before its request is counted, so this waits until `expected` is reached. */
  async function expectAdded(work: () => Promise<unknown>, expected: [name: string, labels: Record<string, string>, added: number][]) {
    const before = await scrape(port);
    await work();
    let after: Sample[] = [];
    const added = () =>
      expected.map(([name, labels]) => [name, labels, (sampleValue(after, name, labels) ?? 0) - (sampleValue(before, name, labels) ?? 0)]);
    await until(async () => {
      after = await scrape(port);
      return JSON.stringify(added()) === JSON.stringify(expected);
    }, 30_000).catch(() => {});
    expect(added()).to.deep.equal(expected);
  }

  async function run(body: object, status: string): Promise<string> {
    const { body: job } = await request('POST', '/jobs', body);
    await api.jobIn(tenant.owner.token, job.id, [status]);
    return job.id;
  }

  it('count an upload and its bytes', async () => {
    await expectAdded(
      () => api.upload(tenant, { bytes: 'twelve bytes' }),
      [
        ['sheaf_uploads_completed_total', {}, 1],
        ['sheaf_upload_bytes_total', {}, 12],
        ['sheaf_http_requests_total', { operation: 'documents.createUpload', status: '200' }, 1],
        ['sheaf_http_requests_total', { operation: 'uploads', status: '200' }, 1],
        ['sheaf_http_request_duration_seconds_count', { operation: 'documents.createUpload' }, 1],
      ],
    );
  });

  it('count a job that succeeds, its attempt, its credits and its call of the AI service', async () => {
    await expectAdded(
      () => run({ ...summary, organizationId: tenant.organizationId }, 'succeeded'),
      [
        ['sheaf_jobs_created_total', { kind: 'text.summarize' }, 1],
        ['sheaf_job_attempts_total', { kind: 'text.summarize' }, 1],
        ['sheaf_job_outcomes_total', { kind: 'text.summarize', outcome: 'succeeded' }, 1],
        ['sheaf_job_attempt_duration_seconds_count', { kind: 'text.summarize', outcome: 'succeeded' }, 1],
        ['sheaf_credits_charged_total', { purpose: 'job' }, 5],
        ['sheaf_credits_refunded_total', { purpose: 'job' }, 0],
        ['sheaf_ai_call_duration_seconds_count', { operation: 'summarize', outcome: 'ok' }, 1],
      ],
    );
  });

  it('count a job that fails for good, and its refund', async () => {
    const document = await api.upload(tenant, { contentType: 'application/pdf', bytes: 'this is no PDF' });
    await expectAdded(
      () => run({ kind: 'document.extract', documentId: document.id }, 'failed'),
      [
        ['sheaf_job_attempts_total', { kind: 'document.extract' }, 1],
        ['sheaf_job_outcomes_total', { kind: 'document.extract', outcome: 'failed' }, 1],
        ['sheaf_job_outcomes_total', { kind: 'document.extract', outcome: 'succeeded' }, 0],
        ['sheaf_credits_charged_total', { purpose: 'job' }, 1],
        ['sheaf_credits_refunded_total', { purpose: 'job' }, 1],
      ],
    );
  });

  const extractions = (failed: number, obsolete: number): [string, Record<string, string>, number][] => [
    ['sheaf_job_outcomes_total', { kind: 'document.extract', outcome: 'failed' }, failed],
    ['sheaf_job_outcomes_total', { kind: 'document.extract', outcome: 'obsolete' }, obsolete],
    ['sheaf_credits_refunded_total', { purpose: 'job' }, 1],
  ];

  /** Removes what a new job needs before anybody dispatches its intent. */
  async function removeBefore(documentId: string, { workspaceId = tenant.workspaceId }, remove: () => Promise<unknown>): Promise<void> {
    const { message } = await insertJobOnly(api, { ...tenant, workspaceId }, { kind: 'document.extract', documentId });
    const lease = (seconds: number) =>
      sql`update outbox set lease_until = now() + make_interval(secs => ${seconds}) where id = ${message.id}`.execute(api.database.db);
    await lease(600);
    await remove();
    await lease(0);
  }

  it('count a job that fails because its document was deleted apart from those that fail', async () => {
    const { id: documentId } = await api.upload(tenant, { bytes: 'Some text.' });
    const remove = () => request('DELETE', `/documents/${documentId}`);
    await expectAdded(() => removeBefore(documentId, {}, remove), extractions(0, 1));
  });

  it('count a job that a worker finds without its workspace the same, though its documents are not drained yet', async () => {
    const gone = { organizationId: tenant.organizationId, name: 'Gone', slug: 'gone' };
    const workspaceId = (await request('POST', '/workspaces', gone)).body.id;
    const { id: documentId } = await api.upload({ ...tenant, workspaceId }, { bytes: 'Some text.' });
    // By nobody who would drain it.
    const remove = () => api.database.db.deleteFrom('workspace').where('id', '=', workspaceId).execute();
    await expectAdded(() => removeBefore(documentId, { workspaceId }, remove), extractions(0, 1));
    await api.database.db.deleteFrom('document').where('id', '=', documentId).execute();
  });

  it('count a job whose document is there, but not in the store, as one that fails', async () => {
    const { id: documentId } = await api.upload(tenant, { bytes: 'Some text.' });
    rmSync(join(api.stack.dataDir, 'objects', tenant.organizationId, documentId));
    await expectAdded(() => run({ kind: 'document.extract', documentId }, 'failed'), extractions(1, 0));
  });

  it('count a search by the way that its chunks were found', async () => {
    const document = await api.upload(tenant, { bytes: 'A telescope has a mirror.' });
    await run({ kind: 'document.extract', documentId: document.id }, 'succeeded');
    await run({ kind: 'document.index', documentId: document.id }, 'succeeded');
    const search = (mode: string) => request('POST', `/workspaces/${tenant.workspaceId}/documents/search`, { query: 'mirror', mode });
    for (const [mode, quantized, lexical] of [
      ['semantic', 1, 0],
      ['lexical', 0, 1],
      // Without a model for embeddings only its words rank.
      ['hybrid', 0, 1],
    ] as const)
      await expectAdded(
        async () => expect((await search(mode)).body.results, mode).to.have.length(1),
        [
          ['sheaf_search_scan_duration_seconds_count', { path: 'quantized' }, quantized],
          ['sheaf_search_scan_duration_seconds_count', { path: 'lexical' }, lexical],
          ['sheaf_http_requests_total', { operation: 'documents.search', status: '200' }, 1],
        ],
      );
  });

  it('count refused requests by operation and status, over both transports and at paths that are none', async () => {
    await expectAdded(async () => {
      await request('GET', '/jobs/none-such');
      await api.rpc('jobs.get', { id: 'none-such' }, { token: tenant.owner.token });
      await api.request('GET', '/api/v1/me');
      await api.request('GET', `/none/${tenant.organizationId}`);
    }, [
      ['sheaf_http_requests_total', { operation: 'jobs.get', status: '404' }, 2],
      ['sheaf_http_requests_total', { operation: 'account.me', status: '401' }, 1],
      ['sheaf_http_requests_total', { operation: 'none', status: '404' }, 1],
    ]);
  });

  it('count nothing of a request that is refused', async () => {
    const body = { ...summary, text: 'x', workspaceId: tenant.workspaceId, organizationId: (await api.createTenant()).organizationId };
    await expectAdded(
      () => request('POST', '/jobs', body),
      [
        ['sheaf_jobs_created_total', { kind: 'text.summarize' }, 0],
        ['sheaf_credits_charged_total', { purpose: 'job' }, 0],
      ],
    );
  });

  it('show open streams, the pool, what waits, and what the SDK measures', async () => {
    const stream = await openJobStream(api, { token: tenant.owner.token, organizationId: tenant.organizationId });
    let samples: Sample[] = [];
    const nothingIsDue = () => jobKinds.every((kind) => sampleValue(samples, 'sheaf_queue_oldest_seconds', { kind }) === 0);
    // A database that is busy may not respond to the first scrape, and what waits is read anew after some seconds only.
    await until(async () => {
      samples = await scrape(port);
      return sampleValue(samples, 'sheaf_open_streams') === 1 && sampleValue(samples, 'sheaf_backlog_readable') === 1 && nothingIsDue();
    });
    stream.close();
    await until(async () => sampleValue(await scrape(port), 'sheaf_open_streams') === 0);

    const sizes = ['requests', 'sessions', 'worker'].map((pool) => sampleValue(samples, 'sheaf_database_pool_size', { pool }) ?? 0);
    expect(sizes.reduce((sum, size) => sum + size, 0)).to.equal(16);
    expect(sampleValue(samples, 'sheaf_database_pool_connections', { pool: 'requests', state: 'idle' })).to.be.at.least(1);
    expect(sampleValue(samples, 'sheaf_database_pool_wait_seconds_count', { pool: 'requests' })).to.be.above(0);
    expect(sampleValue(samples, 'sheaf_backlog_readable')).to.equal(1);
    expect(sampleValue(samples, 'sheaf_outbox_intents')).to.be.at.least(0);
    for (const name of ['waiting', 'refused', 'oldest_seconds']) expect(sampleValue(samples, `sheaf_mails_${name}`), name).to.equal(0);
    expect(samples.some(({ name }) => name.startsWith('temporal_'))).to.equal(true);
    expect(sampleValue(samples, 'process_cpu_seconds_total')).to.be.above(0);
  });

  nightly('show who waits for a lock in the database, and for how long', async () => {
    const read = async () => {
      const samples = await scrape(port);
      return { waiting: sampleValue(samples, 'sheaf_lock_waiting'), seconds: sampleValue(samples, 'sheaf_lock_oldest_seconds') ?? 0 };
    };
    // Clients without a bound for their wait.
    const clients = Array.from({ length: 3 }, () => new pg.Client({ connectionString: api.database.url }));
    await Promise.all(clients.map((client) => client.connect()));
    const [holder, ...waiters] = clients;
    const lock = (client: pg.Client | undefined) =>
      client?.query('select from organization where id = $1 for update', [tenant.organizationId]);
    try {
      await until(async () => (await read()).waiting === 0);
      const startedAt = performance.now();
      await holder?.query('begin');
      await lock(holder);
      const waiting = Promise.all(waiters.map(lock));
      await until(async () => (await read()).waiting === 2);
      await until(async () => (await read()).seconds > 1);
      expect((await read()).seconds).to.be.below((performance.now() - startedAt) / 1_000);
      await holder?.query('commit');
      await waiting;
      await until(async () => (await read()).waiting === 0);
      expect((await read()).seconds).to.equal(0);
    } finally {
      await Promise.all(clients.map((client) => client.end()));
    }
  });

  const housekeeping = () =>
    api.temporal.client.workflow.execute('housekeeping', { taskQueue: 'sheaf', workflowId: `housekeeping-${Date.now()}`, args: [] });

  it('show since when each step of housekeeping is expected, before the first, and when it last succeeded', async () => {
    const expectedAt = (samples: Sample[], step: string) =>
      sampleValue(samples, 'sheaf_scheduled_step_expected_timestamp_seconds', { step });
    const samples = await scrape(port);
    const processStart = sampleValue(samples, 'process_start_time_seconds') ?? Number.NaN;
    for (const step of ['takeBackLost', 'startMissing', 'deletePaymentEvents', 'reconcileIndexes', 'reconcileBilling'])
      expect(expectedAt(samples, step), step).to.be.within(processStart, processStart + 60);
    expect(sampleValue(samples, 'sheaf_scheduled_step_success_timestamp_seconds', { step: 'deletePaymentEvents' })).to.equal(undefined);
    const startedAt = Date.now() / 1_000;
    await housekeeping();
    const at = async (step: string) => sampleValue(await scrape(port), 'sheaf_scheduled_step_success_timestamp_seconds', { step }) ?? 0;
    for (const step of ['purgeAbandonedUploads', 'deleteFinishedJobs', 'findOrphanedObjects', 'deletePaymentEvents'])
      expect(await at(step), step).to.be.at.least(startedAt - 1);
  });

  it('show when the daily check last found the ledger off, and when sound', async () => {
    const at = async (result: string) => sampleValue(await scrape(port), 'sheaf_ledger_checked_timestamp_seconds', { result }) ?? 0;
    const count = (by: number) => sql`update credit_month set used = used + ${by}`.execute(api.database.db);
    await housekeeping();
    expect(await at('off')).to.equal(0);
    await count(1);
    await housekeeping();
    expect(await at('off')).to.be.above(await at('sound'));
    await count(-1);
    await housekeeping();
    expect(await at('sound')).to.be.above(await at('off'));
  });

  it('show when billing was last reconciled, and not when an operator compared it', async () => {
    const at = async () => sampleValue(await scrape(port), 'sheaf_scheduled_step_success_timestamp_seconds', { step: 'reconcileBilling' });
    const run = (repair: boolean) =>
      api.temporal.client.workflow.execute('reconcileBilling', {
        ...{ taskQueue: 'sheaf', workflowId: `reconcile-${repair}`, args: [{ repair }] },
      });
    await run(false);
    expect(await at()).to.equal(undefined);
    const startedAt = Date.now() / 1_000;
    await run(true);
    expect(await at()).to.be.at.least(startedAt - 1);
  });

  it('have no label that holds an id, a path or an address', async () => {
    const samples = await scrape(port);
    remember(samples);
    const ids = [tenant.organizationId, tenant.workspaceId, tenant.owner.id, tenant.owner.email, tenant.slug];
    /** Of Temporal's SDK: what it counts by names that the code gives, and the namespace, which a deployment has one of. */
    const kinds = {
      sheaf_: { known: /^(kind|outcome|operation|status|purpose|path|pool|state|step|result|le)$/, form: /^[A-Za-z0-9.+-]{1,40}$/ },
      temporal_: {
        known:
          /^(namespace|service_name|task_queue|workflow_type|activity_type|worker_type|poller_type|operation|status_code|failure_reason|eager|le)$/,
        form: /^[A-Za-z0-9._+-]{1,60}$/,
      },
    };
    for (const [prefix, { known, form }] of Object.entries(kinds)) {
      const found = samples.filter(({ name }) => name.startsWith(prefix));
      for (const { name, labels } of found) {
        for (const [label, value] of Object.entries(labels)) {
          expect(label, name).to.match(known);
          if (label === 'namespace') expect(value, name).to.equal(api.temporal.namespace);
          else
            expect(value, `${name} ${label}`)
              .to.match(form)
              .and.not.match(/[0-9a-f]{8}-?[0-9a-f]{4}/);
          expect(ids, name).not.to.include(value);
        }
      }
      expect(found.length, prefix).to.be.above(100);
    }
  });

  nightly('show the waits for a lock on the table of jobs, which hides only what is read from it', async () => {
    const { db } = api.database;
    await db.transaction().execute(async (trx) => {
      await sql`lock table job in access exclusive mode`.execute(trx);
      const isShown = async () => {
        const samples = await scrape(port);
        return (sampleValue(samples, 'sheaf_lock_waiting') ?? 0) > 0 && sampleValue(samples, 'sheaf_queue_jobs') === undefined;
      };
      await until(isShown, 20_000);
      const samples = await scrape(port);
      expect(sampleValue(samples, 'sheaf_backlog_readable')).to.equal(1);
      expect(sampleValue(samples, 'sheaf_outbox_intents')).to.be.a('number');
      expect(sampleValue(samples, 'sheaf_webhooks_waiting')).to.equal(0);
    });
  });

  it('can be scraped while the database is away, and say that they do not know what waits', async () => {
    await proxy.cut();
    try {
      // Each part shows what it measured for up to five seconds, counted from its own reading.
      await until(async () => {
        const samples = await scrape(port);
        const waiting = ['sheaf_outbox_intents', 'sheaf_queue_oldest_seconds'].map((name) => sampleValue(samples, name));
        return sampleValue(samples, 'sheaf_backlog_readable') === 0 && waiting.every((value) => value === undefined);
      });
      expect(sampleValue(await scrape(port), 'sheaf_http_requests_total')).to.be.above(0);
    } finally {
      await proxy.mend();
    }
    await until(async () => sampleValue(await scrape(port), 'sheaf_backlog_readable') === 1);
  });
});

describe('The metrics of a worker of its own', () => {
  let port = 0;
  let portOfApi = 0;
  const { api, tenant } = useApi({
    process: true,
    env: async () => {
      [portOfApi = 0] = await findFreePorts(1);
      return { WORKER_ENABLED: 'false', METRICS_PORT: String(portOfApi) };
    },
  });
  before(async () => {
    [port = 0] = await findFreePorts(1);
    await api.stack.start('worker', { METRICS_PORT: String(port) });
  });

  it('count attempts, and do not show what the API shows', async () => {
    const body = { ...summary, organizationId: tenant.organizationId };
    const { body: job } = await api.request('POST', '/api/v1/jobs', { token: tenant.owner.token, body });
    await api.jobIn(tenant.owner.token, job.id, ['succeeded']);
    const succeeded = { kind: 'text.summarize', outcome: 'succeeded' };
    // The worker counts it after its commit, of which the client has heard by then.
    await until(async () => sampleValue(await scrape(port), 'sheaf_job_outcomes_total', succeeded) === 1);
    const samples = await scrape(port);
    expect(samples.some(({ name }) => name.startsWith('temporal_'))).to.equal(true);
    expect(sampleValue(samples, 'sheaf_backlog_readable')).to.equal(undefined);
  });

  it('show the steps of scheduled workflows, and those of its API do not, so that an alert knows where they run', async () => {
    const step = 'sheaf_scheduled_step_expected_timestamp_seconds';
    expect(sampleValue(await scrape(port), step)).to.be.above(0);
    expect(sampleValue(await scrape(portOfApi), step)).to.equal(undefined);
  });
});

describe('The metrics of the AI service', () => {
  it('count requests by operation and status, and show its readers', async () => {
    const [port = 0] = await findFreePorts(1);
    await using service = await startAiService({ METRICS_PORT: String(port), AI_READERS: '1' });
    await service.client.embed({ texts: ['one'] });
    await service.ask('/v1/summarize', { method: 'POST', body: '{' });
    await service.ask(`/${crypto.randomUUID()}`);
    const count = async (labels: Record<string, string>) => sampleValue(await scrape(port), 'sheaf_ai_service_requests_total', labels);
    await until(async () => (await count({ operation: 'other', status: '404' })) === 1);
    expect(await count({ operation: 'embed', status: '200' })).to.equal(1);
    expect(await count({ operation: 'summarize', status: '400' })).to.equal(1);
    const samples = await scrape(port);
    remember(samples);
    expect(sampleValue(samples, 'sheaf_ai_service_readers')).to.equal(1);
    // A reader that starts is busy.
    await until(async () => sampleValue(await scrape(port), 'sheaf_ai_service_readers_busy') === 0);
    expect(new Set(samples.flatMap(({ labels }) => (labels.operation ? [labels.operation] : [])))).to.deep.equal(
      new Set(['embed', 'summarize', 'other']),
    );
  });
});

describe('The address of metrics', () => {
  it('is one of this machine alone, unless METRICS_HOST names another', async () => {
    const load = (METRICS_HOST: string) =>
      loadServerConfig({ NODE_ENV: 'test', AUTH_SECRET: 'x'.repeat(40), DATABASE_URL: 'postgres://unused', METRICS_HOST });
    for (const [named, isFound] of [
      ['', false],
      ['0.0.0.0', true],
    ] as const) {
      const { host } = load(named).metrics;
      const { port, close } = await serveMetrics({ host, port: 0 }, { registry: new Registry() });
      try {
        expect((await fetch(`http://127.0.0.1:${port}/metrics`)).status).to.equal(200);
        // Another address of this machine stands for one that others can reach.
        const elsewhere = fetch(`http://127.0.0.2:${port}/metrics`, { signal: AbortSignal.timeout(5_000) }).then(
          () => true,
          () => false,
        );
        if (process.platform === 'linux') expect(await elsewhere, `METRICS_HOST='${named}'`).to.equal(isFound);
      } finally {
        await close();
      }
    }
  });
});

describe('The metrics of calls of the AI service', () => {
  it('tell refusals because of the deployment, such as a wrong token, from those of a document', async () => {
    const service = await startAiService({ AI_READERS: '1' });
    const registry = new Registry();
    const { observeAi } = createServerMetrics(registry);
    const { port, close } = await serveMetrics({ host: '127.0.0.1', port: 0 }, { registry });
    try {
      const stranger = observeAi(createAiClient({ baseUrl: service.url, token: 'a wrong token' }));
      const extract = { body: Buffer.from('this is no PDF'), contentType: 'application/pdf' };
      await stranger.embed({ texts: ['one'] }).catch(() => {});
      await observeAi(service.client)
        .extract(extract)
        .catch(() => {});
      const calls = (await scrape(port)).filter(({ name }) => name === 'sheaf_ai_call_duration_seconds_count');
      expect(calls.map(({ labels }) => labels)).to.deep.equal([
        { operation: 'embed', outcome: 'refused' },
        { operation: 'extract', outcome: 'rejected' },
      ]);
    } finally {
      await close();
      await service.stop();
    }
  });
});

interface Rule {
  alert: string;
  expr: string;
  annotations: { runbook: string; summary: string };
}

describe('ops/deploy/monitoring', () => {
  const read = (name: string) => readFileSync(join('ops/deploy/monitoring', name), 'utf8');
  const rules: Rule[] = parse(read('alerts.yml')).groups.flatMap((group: { rules: Rule[] }) => group.rules);
  const dashboard = JSON.parse(read('dashboard.json'));
  // Metrics of hosts are those of Prometheus' node exporter.
  const ofServices = rules.filter(({ expr }) => !/\bnode_\w+/.test(expr));
  const queries: [where: string, expr: string][] = [
    ...ofServices.map(({ alert, expr }): [string, string] => [alert, expr]),
    ...dashboard.panels.flatMap(({ title, targets }: any) => targets.map(({ expr }: any) => [title, expr])),
  ];
  const scraped: string[] = parse(read('prometheus.yml')).scrape_configs.map(({ job_name }: { job_name: string }) => job_name);
  /** What is not part of the traffic above: errors, calls that are broken off, rare operations. */
  const others: { of: RegExp; label: string; values: readonly string[] }[] = [
    { of: /^/, label: 'job', values: scraped },
    { of: /^sheaf_http_/, label: 'status', values: Array.from({ length: 500 }, (_, index) => String(index + 100)) },
    { of: /^sheaf_http_/, label: 'operation', values: routes.map(({ metadata }) => metadata.operation) },
    { of: /^sheaf_ai_call_/, label: 'outcome', values: aiOutcomes },
  ];
  /** The steps that the activities report: those of one metric are those of the other. */
  const steps = () => exported.get('sheaf_scheduled_step_expected_timestamp_seconds')?.get('step') ?? [];
  const knownValues = (name: string, label: string): string[] => [
    ...(exported.get(name)?.get(label) ?? []),
    ...(name.startsWith('sheaf_scheduled_step_') && label === 'step' ? steps() : []),
    ...others.filter((other) => other.of.test(name) && other.label === label).flatMap(({ values }) => values),
  ];
  /** What Prometheus itself adds, and what only a service with TLS to Temporal has. */
  const added = new Set(['up', 'sheaf_certificate_end_timestamp_seconds']);
  const addedLabels = new Set(['job', 'instance', 'setting']);

  before(() => expect([...exported.keys()], 'the tests above did not run').to.include('sheaf_ai_service_readers'));

  it('names only metrics and labels that the services export', () => {
    expect(queries).to.have.length.above(40);
    for (const [where, expr] of queries) {
      const names = [...expr.matchAll(/\b(?:sheaf|process|nodejs|temporal)_\w+|\bup\b/g)].map(([name]) => name);
      expect(names, where).not.to.deep.equal([]);
      for (const name of names) expect(added.has(name) || exported.has(name), `${where}: ${name}`).to.equal(true);
      const labels = [...expr.matchAll(/\b(?:by|without) \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(/, */));
      const matched = [...expr.matchAll(/(\w+)(?:=~|!~|!=|=)"/g)].map(([, label = '']) => label);
      const known = new Set(names.flatMap((name) => [...(exported.get(name)?.keys() ?? [])]));
      for (const label of [...labels, ...matched]) expect(addedLabels.has(label) || known.has(label), `${where}: ${label}`).to.equal(true);
    }
  });

  /** The values in matchers of labels that no series can have. */
  function findUnknownValues(of: typeof queries): { found: number; unknown: string[] } {
    const matchers = of.flatMap(([where, expr]) =>
      [...expr.matchAll(/(\w+)\{([^}]*)\}/g)].flatMap(([, name = '', list = '']) =>
        [...list.matchAll(/(\w+)(=~|!~|!=|=)"([^"]*)"/g)].map(([, label = '', operator = '', text = '']) => ({
          ...{ where, name, label, isPattern: operator.includes('~') },
          values: operator.includes('~') ? text.split('|') : [text],
        })),
      ),
    );
    const unknown = matchers.flatMap(({ where, name, label, isPattern, values }) => {
      const fits = (value: string, known: string) => (isPattern ? new RegExp(`^(?:${value})$`).test(known) : known === value);
      const none = values.filter((value) => !knownValues(name, label).some((known) => fits(value, known)));
      return none.map((value) => `${where}: ${label} ${value}`);
    });
    return { found: matchers.length, unknown };
  }

  it('names only values of labels that the services export, or can', () => {
    const { found, unknown } = findUnknownValues(queries);
    expect(found).to.be.above(10);
    expect(unknown).to.deep.equal([]);
    const wrong = 'x{a="b"} + sheaf_scheduled_step_success_timestamp_seconds{step=~"sweep.*|takeBackLost"}';
    expect(findUnknownValues([['an alert', wrong]]).unknown).to.deep.equal(['an alert: a b', 'an alert: step sweep.*']);
  });

  it('names for each alert its own section of docs/operations.md', () => {
    const sections = [...readFileSync('docs/operations.md', 'utf8').matchAll(/^### (\w+)$/gm)].map(([, title = '']) => title);
    expect(rules.map(({ annotations }) => annotations.runbook)).to.deep.equal(
      rules.map(({ alert }) => `docs/operations.md#${alert.toLowerCase()}`),
    );
    expect(sections).to.deep.equal(rules.map(({ alert }) => alert));
  });
});
