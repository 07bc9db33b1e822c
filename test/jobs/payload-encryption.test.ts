import { randomBytes } from 'node:crypto';
import type { Client } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import { expect } from 'chai';
import { createTemporalClient } from '../../adapters/temporal/connect.ts';
import { createDataConverter } from '../../adapters/temporal/data-converter.ts';
import type { Environment } from '../../base/config/environment.ts';
import { loadServerConfig } from '../../base/config/server.ts';
import { jobTaskQueue } from '../../contract/intents/definitions.ts';
import { bundleWorkflows } from '../../worker/workflow-bundle.ts';
import { aiError } from '../support/fake-ai.ts';
import { amountsOf, createJob, expectSoundLedger, historyOf, resultOf, summary } from '../support/jobs.ts';
import { nightly } from '../support/nightly.ts';
import { until } from '../support/processes.ts';
import { noteTokens } from '../support/run-secrets.ts';
import { withTimes } from '../support/times.ts';
import { type UsedApi, useApi } from '../support/use-api.ts';
import { type ExtraWorker, startExtraWorker } from '../support/workers.ts';

const [keyA, keyB, keyC] = ['a', 'b', 'c'].map((id) => `${id}:${randomBytes(32).toString('base64')}`) as [string, string, string];
noteTokens(keyA, keyB, keyC);

describe('Payloads of workflows, with keys,', () => {
  const used = useApi({ ai: true, services: ['api', 'worker'], env: { TEMPORAL_PAYLOAD_KEYS: keyA }, check: 'at the end' });
  const { api, ai, tenant } = used;
  let reader: Client;
  before(() => {
    reader = readerOf(used, keyA);
  });
  after(() => reader.connection.close());

  it('tell Temporal nothing of a job but what operators search by', async () => {
    ai.behave('summarize', () => aiError(413, 'text_too_long'));
    const { id } = await createJob(api, tenant, summary);
    await api.jobIn(tenant.owner.token, id, ['failed']);
    await resultOf(api, id).catch(() => undefined);
    ai.behave('summarize');

    const { payloads, rest } = await readRaw(used, id);
    expect(payloads.length).to.be.greaterThan(3);
    expect(new Set(payloads.map(({ keyId }) => keyId))).to.deep.equal(new Set(['a']));
    for (const known of [id, tenant.organizationId, 'fake service', 'claimedBy', 'timeoutMs', '\n    at '])
      expect([rest, ...payloads.map(({ data }) => data)].join('\n'), known).not.to.include(known);
    // By its code a failure can still be found.
    expect(rest).to.include('text_too_long').and.include('Encoded failure');
  });

  it('are read with the keys: inputs, failures and what the UI shows of a run', async () => {
    ai.behave('summarize', () => aiError(413, 'text_too_long'));
    const { id } = await createJob(api, tenant, summary);
    await api.jobIn(tenant.owner.token, id, ['failed']);
    ai.behave('summarize');
    const handle = reader.workflow.getHandle(`job-${id}`);
    await resultOf(api, id).catch(() => undefined);
    const failure = await handle.result().catch((error) => error);
    expect(failure.cause.message).to.equal('The fake service says text_too_long.');
    expect(await (await handle.describe()).staticSummary()).to.include(tenant.organizationId);
    const raw = api.temporal.client.workflow.getHandle(`job-${id}`);
    const other = await raw.result().catch((error) => error);
    expect(other.message).to.include('Unknown encoding: binary/encrypted');
  });

  it('leave a history that replays', async () => {
    const { id } = await createJob(api, tenant, summary);
    await api.jobIn(tenant.owner.token, id, ['succeeded']);
    await resultOf(api, id).catch(() => undefined);
    const history = await reader.workflow.getHandle(`job-${id}`).fetchHistory();
    const dataConverter = createDataConverter(temporalOf(used, keyA));
    await Worker.runReplayHistory({ workflowBundle: await bundleWorkflows(dataConverter), dataConverter }, history, `job-${id}`);
  });
});

describe('A key of payloads', () => {
  const used = useApi({
    ai: true,
    tenant: 'shared',
    env: withTimes({ jobRetryDelays: [200] }, { WORKER_ENABLED: 'false', TEMPORAL_PAYLOAD_KEYS: keyA }),
  });
  const { api, ai, tenant } = used;
  const workers: ExtraWorker[] = [];
  const start = async (env: Environment) => {
    const worker = await startExtraWorker(api, { env });
    workers.push(worker);
    return worker;
  };
  afterEach(async () => {
    ai.behave('summarize');
    for (const worker of workers.splice(0)) await worker.kill();
    await expectSoundLedger(api);
  });
  const succeeded = (id: string) => api.jobIn(tenant.owner.token, id, ['succeeded']);

  /** A job whose attempt has begun at a worker, which is then gone. */
  async function leaveOpen(env: Environment): Promise<string> {
    const worker = await start(env);
    ai.behave('summarize', () => undefined);
    const { id } = await createJob(api, tenant, summary);
    await until(() => ai.callsOf(id) === 1);
    await worker.kill();
    ai.behave('summarize');
    return id;
  }

  nightly('may be followed by another while jobs are open', async () => {
    const id = await leaveOpen({ TEMPORAL_PAYLOAD_KEYS: `${keyA},${keyB}` });
    await start({ TEMPORAL_PAYLOAD_KEYS: `${keyB},${keyA}` });
    await succeeded(id);
    await ended(used, id);
    const { payloads } = await readRaw(used, id);
    expect(new Set(payloads.map(({ keyId }) => keyId))).to.deep.equal(new Set(['a', 'b']));
    expect(await amountsOf(api, id)).to.have.lengthOf(1);
  });

  nightly('may be the first while jobs are open, and be turned off again', async () => {
    const id = await leaveOpen({ TEMPORAL_PAYLOAD_KEYS: `plain,${keyA}` });
    await start({ TEMPORAL_PAYLOAD_KEYS: keyA });
    await succeeded(id);
    await ended(used, id);
    const { payloads } = await readRaw(used, id);
    expect(new Set(payloads.map(({ keyId }) => keyId))).to.deep.equal(new Set(['a', undefined]));
  });

  for (const [title, keys, told] of [
    ['another', keyC, /which TEMPORAL_PAYLOAD_KEYS lacks/],
    ['another of the same id', keyC.replace('c:', 'a:'), /another key than that of the id a in TEMPORAL_PAYLOAD_KEYS/],
    ['none', '', /which TEMPORAL_PAYLOAD_KEYS lacks/],
  ] as const)
    nightly(`that a worker has not, but ${title}, keeps its jobs waiting, and costs them nothing`, async () => {
      const wrong = await start({ TEMPORAL_PAYLOAD_KEYS: keys });
      const { id } = await createJob(api, tenant, summary);
      await until(async () => (await readRaw(used, id)).events.includes('workflowTaskFailed'));
      await wrong.program.printed(told);
      // In the clear, whatever key this worker has.
      expect((await readRaw(used, id)).rest).to.match(told);
      const handle = api.temporal.client.workflow.getHandle(`job-${id}`);
      expect((await handle.describe()).status.name).to.equal('RUNNING');
      expect(await api.jobIn(tenant.owner.token, id, ['queued'])).to.include({ attempts: 0 });

      await wrong.kill();
      await start({ TEMPORAL_PAYLOAD_KEYS: keyA });
      expect(await succeeded(id)).to.include({ attempts: 1 });
      expect(await amountsOf(api, id)).to.have.lengthOf(1);
    });

  nightly('that only the worker of an attempt has not costs the job no attempt', async () => {
    await start({ TEMPORAL_PAYLOAD_KEYS: keyA, WORKER_JOB_KINDS: 'text.embed' });
    const { address, namespace } = api.temporal;
    const connection = await NativeConnection.connect({ address });
    const wrong = await Worker.create({
      ...{ connection, namespace, taskQueue: jobTaskQueue('text.summarize') },
      dataConverter: createDataConverter(temporalOf(used, keyC)),
      activities: { runJobAttempt: () => expect.fail('it has no input') },
    });
    const { id } = await wrong.runUntil(async () => {
      const job = await createJob(api, tenant, { ...summary, maxAttempts: 1 });
      await until(async () => /activityTaskFailed.*timerStarted/.test((await readRaw(used, job.id)).events.join()));
      return job;
    });
    await connection.close();
    expect(await api.jobIn(tenant.owner.token, id, ['queued'])).to.include({ attempts: 0 });

    await start({ TEMPORAL_PAYLOAD_KEYS: keyA });
    expect(await succeeded(id)).to.include({ attempts: 1 });
    // The next one did not follow at once, or the history of a waiting job would soon be full.
    const timers = (await historyOf(api, id)).filter(({ type }) => type === 'TimerStarted');
    expect(timers[0]?.timerMs).to.equal(10_000);
  });
});

function temporalOf({ api }: UsedApi, keys: string) {
  return loadServerConfig({ ...api.stack.env, TEMPORAL_PAYLOAD_KEYS: keys }).temporal;
}

/** A client with a key. */
function readerOf(used: UsedApi, keys: string): Client {
  return createTemporalClient(temporalOf(used, keys));
}

async function ended({ api }: UsedApi, jobId: string): Promise<void> {
  const handle = api.temporal.client.workflow.getHandle(`job-${jobId}`);
  await until(() => handle.describe().then(({ status }) => status.name === 'COMPLETED'));
}

/** What Temporal keeps of every workflow in the clear. */
const visible = new Set(['workflowId', 'searchAttributes', 'header', 'priority']);

interface RawPayload {
  /** Undefined if it is not encrypted. */
  keyId: string | undefined;
  data: string;
}

/** The history of a job's workflow as Temporal has it: its events, its payloads, and the texts that are in none of them nor {@link visible}. */
async function readRaw({ api }: UsedApi, jobId: string): Promise<{ events: string[]; payloads: RawPayload[]; rest: string }> {
  const history = await api.temporal.client.workflow
    .getHandle(`job-${jobId}`)
    .fetchHistory()
    .catch(() => ({ events: [] }));
  const payloads: RawPayload[] = [];
  const texts: string[] = [];
  const events: string[] = [];
  const walk = (value: unknown): void => {
    if (typeof value === 'string') texts.push(value);
    if (typeof value !== 'object' || value === null) return;
    if ('metadata' in value && 'data' in value) return void payloads.push(readPayload(value));
    // What the SDK itself keeps of a patch and a local activity is in clear: their names and numbers.
    const clear = 'markerName' in value ? ['patch-data', 'data'] : [];
    for (const [name, each] of Object.entries(value).flatMap((entry) =>
      entry[0] === 'details' ? Object.entries(entry[1] ?? {}) : [entry],
    )) {
      if (clear.includes(name)) continue;
      if (name.endsWith('EventAttributes') && each) events.push(name.replace('EventAttributes', ''));
      if (!visible.has(name)) walk(each);
    }
  };
  walk(history.events);
  return { events, payloads, rest: texts.join('\n') };
}

function readPayload({ metadata, data }: any): RawPayload {
  const text = (bytes: Uint8Array | undefined) => Buffer.from(bytes ?? []).toString('latin1');
  return { keyId: text(metadata?.['encryption-key-id']) || undefined, data: text(data) };
}
