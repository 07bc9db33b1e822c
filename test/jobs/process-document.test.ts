import { expect } from 'chai';
import { addEndpoint, webhooksOn } from '../adapters/webhooks/support.ts';
import { billingOn } from '../api/auth/support/service.ts';
import { openJobStream } from '../support/event-stream.ts';
import { aiError, answerLate, type FakeAi, goodAnswer, holdCalls } from '../support/fake-ai.ts';
import { amountsOf, createJob, historyOf } from '../support/jobs.ts';
import { nightly } from '../support/nightly.ts';
import { until } from '../support/processes.ts';
import { startReceiver } from '../support/receiver.ts';
import { expectOk } from '../support/requests.ts';
import { withTimes } from '../support/times.ts';
import { useApi } from '../support/use-api.ts';

const kind = 'document.process';
const on = { EXTRA_JOB_KINDS: kind };
const operations = ['extract', 'embed', 'summarize'] as const;
/** What is left of a document after each stage, and how much of the job is done. */
const stages = [
  { operation: 'extract', progress: 0, extracted: false, indexed: false },
  { operation: 'embed', progress: 33, extracted: true, indexed: false },
  { operation: 'summarize', progress: 67, extracted: true, indexed: true },
] as const;

/** What a job has asked the AI service for, in order. */
const asked = (ai: FakeAi, id: string) => ai.calls.filter(({ requestId }) => requestId === id).map(({ operation }) => operation);

describe('Processing a document as one job', () => {
  const env = withTimes({ jobRetryDelays: [50, 50, 60_000] }, { ...on, ...webhooksOn });
  const { api, ai, tenant } = useApi({ ai: true, env, check: 'after each test' });
  afterEach(() => {
    for (const operation of operations) ai.behave(operation);
  });

  const upload = async (bytes = 'One sentence. Another sentence.') => (await api.upload(tenant, { bytes })).id;
  const job = (id: string, statuses: string[]) => api.jobIn(tenant.owner.token, id, statuses);
  const start = async (fields: Record<string, unknown> = {}): Promise<any> =>
    await createJob(api, tenant, { kind, documentId: await upload(), ...fields });
  const end = async (created: any) => await job(created.id, ['succeeded', 'failed']);
  const documentOf = async ({ documentId }: any) =>
    (await expectOk(api.request('GET', `/api/v1/documents/${documentId}`, { token: tenant.owner.token }))).body;

  it('results in what the three jobs result in, for the sum of their prices, with one event', async () => {
    const receiver = await startReceiver();
    const endpoint = await addEndpoint(api, tenant, { url: receiver.url, events: ['job.succeeded', 'job.failed', 'job.canceled'] });
    try {
      const created = await start({ maxSentences: 2 });
      expect(created).to.include({ status: 'queued', progress: 0, credits: 8, result: null });
      expect(created.input).to.deep.equal({ documentId: created.documentId, maxSentences: 2 });
      const ended = await end(created);
      expect(ended).to.include({ status: 'succeeded', progress: 100, attempts: 1 });
      expect(asked(ai, created.id)).to.deep.equal([...operations]);
      const tenants = ai.calls.filter(({ requestId }) => requestId === created.id).map((call) => call.tenant);
      expect(new Set(tenants)).to.deep.equal(new Set([tenant.organizationId]));
      expect(await amountsOf(api, created.id)).to.deep.equal([8]);
      // Five sixths of the stage's two minutes.
      const extraction = ai.calls.find(({ operation, requestId }) => operation === 'extract' && requestId === created.id);
      expect(extraction?.seconds).to.be.within(90, 100);

      const document = await documentOf(created);
      expect(document).to.include({ chunkCount: 1 });
      expect(document.extracted.characters).to.equal(31);
      await until(() => receiver.received.length > 0);

      const documentId = await upload();
      for (const stage of ['extract', 'index', 'summarize']) {
        const fields = { kind: `document.${stage}`, documentId, ...(stage === 'summarize' ? { maxSentences: 2 } : {}) };
        const alone = await end(await createJob(api, tenant, fields));
        expect(ended.result[stage], stage).to.deep.equal(alone.result);
      }
      expect(Object.keys(ended.result)).to.deep.equal(['extract', 'index', 'summarize']);
      await until(() => receiver.received.length >= 4);
      const own = receiver.received.map(({ event }) => event).filter(({ data }) => data.jobId === created.id);
      expect(own.map(({ type, data }) => [type, data.kind])).to.deep.equal([['job.succeeded', kind]]);

      const path = `/api/v1/organizations/${tenant.organizationId}/jobs?documentId=${created.documentId}&includeResult=true`;
      const { body } = await expectOk(api.request('GET', path, { token: tenant.owner.token }));
      expect(body.items).to.deep.equal([ended]);
    } finally {
      await expectOk(api.request('DELETE', `/api/v1/webhooks/${endpoint.id}`, { token: tenant.owner.token }));
      await receiver.stop();
    }
  });

  it('shows each stage as it is done, in the stream and to who asks', async () => {
    const stream = await openJobStream(api, { token: tenant.owner.token, organizationId: tenant.organizationId });
    const held = new Map(operations.map((operation) => [operation, holdCalls(ai, operation)]));
    const created = await start();
    for (const { operation, progress } of stages) {
      await stream.first(({ data }) => data.id === created.id && data.status === 'running' && data.progress === progress);
      await until(() => asked(ai, created.id).at(-1) === operation);
      expect(await job(created.id, ['running'])).to.include({ progress, result: null, startedAt: stream.events.at(-1)?.data.startedAt });
      held.get(operation)?.();
    }
    const last = await stream.first(({ data }) => data.id === created.id && data.status === 'succeeded');
    expect(last.data.progress).to.equal(100);
    expect(last.data.result.summarize.summary).to.equal('Short.');
    stream.close();
  });

  for (const { operation, progress, extracted, indexed } of stages) {
    it(`fails for good if ${operation} is refused, gives all credits back once, and keeps the stages that are done`, async () => {
      ai.behave(operation, () => aiError(422, 'unsupported_file'));
      const created = await start();
      expect(await end(created)).to.deep.include({ status: 'failed', attempts: 1, progress, result: null });
      expect(await amountsOf(api, created.id)).to.deep.equal([8, -8]);
      const document = await documentOf(created);
      expect([document.extracted !== null, document.indexedAt !== null]).to.deep.equal([extracted, indexed]);
    });

    const test = operation === 'embed' ? it : nightly;
    test(`is tried again from ${operation} on if that fails, and a retry begins there, too`, async () => {
      let calls = 0;
      ai.behave(operation, (call) => (++calls === 1 ? aiError(500, 'internal_error') : goodAnswer(call)));
      const index = operations.indexOf(operation);
      const before = operations.slice(0, index);
      const created = await start();
      expect(await end(created)).to.include({ status: 'succeeded', attempts: 2 });
      expect(asked(ai, created.id)).to.deep.equal([...before, operation, ...operations.slice(index)]);
      expect(await amountsOf(api, created.id)).to.deep.equal([8]);

      ai.behave(operation, () => aiError(500, 'internal_error'));
      const failed = await end(await start({ maxAttempts: 2 }));
      expect([failed.status, failed.attempts]).to.deep.equal(['failed', 2]);
      expect(asked(ai, failed.id)).to.deep.equal([...before, operation, operation]);
      expect(await amountsOf(api, failed.id)).to.deep.equal([8, -8]);
      ai.behave(operation);
      const retried = await expectOk(api.request('POST', `/api/v1/jobs/${failed.id}/retry`, { token: tenant.owner.token }));
      expect(retried.body).to.include({ progress, credits: 8 });
      expect(retried.body.input).to.deep.equal({ ...failed.input, retryOf: failed.id });
      const ended = await end(retried.body);
      expect(ended).to.include({ status: 'succeeded', progress: 100 });
      expect(Object.keys(ended.result)).to.deep.equal(['extract', 'index', 'summarize']);
      expect(asked(ai, ended.id)).to.deep.equal(operations.slice(index));
      expect(await amountsOf(api, ended.id)).to.deep.equal([8]);
      expect(await amountsOf(api, failed.id)).to.deep.equal([8, -8]);
    });
  }

  it('is canceled between two attempts with the stages that are done; while it runs that is refused', async () => {
    const cancel = (id: string) => api.request('POST', `/api/v1/jobs/${id}/cancel`, { token: tenant.owner.token });
    const free = holdCalls(ai, 'extract');
    const created = await start();
    await until(() => asked(ai, created.id).length === 1);
    expect((await cancel(created.id)).body.code).to.equal('CONFLICT');
    ai.behave('embed', () => aiError(500, 'internal_error'));
    free();
    // The third attempt waits for a minute.
    await until(async () => {
      const { status, attempts } = await job(created.id, ['queued', 'running']);
      return status === 'queued' && attempts === 3;
    });
    expect((await cancel(created.id)).body).to.include({ status: 'canceled', progress: 33, result: null });
    expect(await amountsOf(api, created.id)).to.deep.equal([8, -8]);
    expect((await documentOf(created)).extracted.characters).to.equal(31);
    expect((await historyOf(api, created.id)).at(-1)?.type).to.equal('WorkflowExecutionCompleted');
    expect(asked(ai, created.id)).to.deep.equal(['extract', 'embed', 'embed', 'embed']);
    expect(await amountsOf(api, created.id)).to.deep.equal([8, -8]);
  });

  it('ends with its stage if its document is deleted meanwhile', async () => {
    const free = holdCalls(ai, 'embed');
    const created = await start();
    await until(() => asked(ai, created.id).includes('embed'));
    await expectOk(api.request('DELETE', `/api/v1/documents/${created.documentId}`, { token: tenant.owner.token }));
    free();
    const ended = await end(created);
    expect([ended.status, ended.error?.code]).to.deep.equal(['failed', 'document_missing']);
    expect(asked(ai, created.id).at(-1)).to.equal('embed');
    expect(await amountsOf(api, created.id)).to.deep.equal([8, -8]);
  });

  it('is done anew by a retry if its document was changed after it failed', async () => {
    ai.behave('summarize', () => aiError(422, 'unsupported_file'));
    const failed = await end(await start());
    expect(failed).to.include({ status: 'failed', progress: 67 });
    ai.behave('summarize');
    const { token } = tenant.owner;
    await expectOk(api.request('PATCH', `/api/v1/documents/${failed.documentId}`, { token, body: { charset: 'windows-1252' } }));
    const { body } = await expectOk(api.request('POST', `/api/v1/jobs/${failed.id}/retry`, { token }));
    expect(body.progress).to.equal(0);
    expect(await end(body)).to.include({ status: 'succeeded', progress: 100 });
    expect(asked(ai, body.id)[0]).to.equal('extract');
  });

  it('is queued and charged once by one idempotency key, and once for a document if it is asked for `once`', async () => {
    const documentId = await upload();
    const create = (body: object, headers = {}) =>
      expectOk(api.request('POST', '/api/v1/jobs', { token: tenant.owner.token, body: { kind, documentId, ...body }, headers }));
    const headers = { 'idempotency-key': 'one-request' };
    const [first, second] = await Promise.all([create({}, headers), create({}, headers)]);
    expect(second.body).to.deep.equal(first.body);
    expect((await create({ once: true })).body.id).to.equal(first.body.id);
    for (const other of ['document.extract', 'document.index'])
      expect((await create({ kind: other, once: true })).body, other).to.include({ id: first.body.id, kind });
    const path = `/api/v1/organizations/${tenant.organizationId}/jobs`;
    const jobs = [1, 2].map(() => ({ kind, documentId, once: true }));
    const { body: many } = await expectOk(api.request('POST', path, { token: tenant.owner.token, body: { jobs } }));
    expect(many.items.map(({ id }: { id: string }) => id)).to.deep.equal([first.body.id, first.body.id]);
    await end(first.body);
    expect(await amountsOf(api, first.body.id)).to.deep.equal([8]);
  });

  it('is what a workspace does with each upload, if it names it', async () => {
    const { token } = tenant.owner;
    const set = (autoProcess: string[]) =>
      api.request('PATCH', `/api/v1/workspaces/${tenant.workspaceId}`, { token, body: { autoProcess } });
    expect((await expectOk(set([kind]))).body.autoProcess).to.deep.equal([kind]);
    const documentId = await upload();
    await expectOk(set([]));
    const path = `/api/v1/organizations/${tenant.organizationId}/jobs?documentId=${documentId}`;
    const [queued, ...others] = (await expectOk(api.request('GET', path, { token }))).body.items;
    expect(others).to.deep.equal([]);
    expect(queued).to.deep.include({ kind, credits: 8, input: { documentId, maxSentences: 5 } });
    expect(await end(queued)).to.include({ status: 'succeeded', progress: 100 });
  });
});

describe('Processing a document whose stages take long', () => {
  const env = { ...on, JOB_TIMEOUT_MS: '3000' };
  const { api, ai, tenant } = useApi({ process: true, ai: true, env, check: 'at the end' });

  nightly('has the time of an attempt for each stage; once the kind is off, none is retried', async () => {
    for (const operation of operations) ai.behave(operation, answerLate(2_000));
    const { id: documentId } = await api.upload(tenant, { bytes: 'A text.' });
    const { id } = await createJob(api, tenant, { kind, documentId, maxAttempts: 1 });
    expect(await api.jobIn(tenant.owner.token, id, ['succeeded', 'failed'])).to.include({ status: 'succeeded', attempts: 1, error: null });
    ai.behave('summarize', answerLate(4_000));
    const { id: late } = await createJob(api, tenant, { kind, documentId, maxAttempts: 1 });
    const ended = await api.jobIn(tenant.owner.token, late, ['failed']);
    expect([ended.error.code, ended.progress]).to.deep.equal(['timeout', 67]);

    await api.stack.kill('api');
    await api.stack.start('api', { EXTRA_JOB_KINDS: '' });
    const { status, body } = await api.request('POST', `/api/v1/jobs/${late}/retry`, { token: tenant.owner.token });
    const message = `names a ${kind} job, a kind that EXTRA_JOB_KINDS of this deployment does not name`;
    expect([status, body.data?.issues]).to.deep.equal([400, [{ path: ['id'], message }]]);
  });
});

describe('Processing a document by a worker that is killed between the stages', () => {
  const env = withTimes({ jobRetryDelays: [200] }, on);
  const { api, ai, tenant } = useApi({ process: true, ai: true, services: ['api', 'worker'], env, check: 'at the end' });

  nightly('costs that attempt, repeats no stage that is done, and is charged once', async () => {
    const { id: documentId } = await api.upload(tenant, { bytes: 'Some text.' });
    ai.behave('embed', () => undefined);
    const { id } = await createJob(api, tenant, { kind, documentId });
    await until(() => asked(ai, id).includes('embed'));
    await api.stack.kill('worker', 'SIGKILL');
    ai.behave('embed');
    await api.stack.start('worker');
    const ended = await api.jobIn(tenant.owner.token, id, ['succeeded', 'failed']);
    expect(ended).to.include({ status: 'succeeded', attempts: 2, progress: 100 });
    expect(asked(ai, id).filter((operation) => operation === 'extract')).to.have.length(1);
    expect(asked(ai, id).filter((operation) => operation === 'summarize')).to.have.length(1);
    expect(await amountsOf(api, id)).to.deep.equal([8]);
    const chunks = await api.database.db.selectFrom('chunk').select('index').where('document_id', '=', documentId).execute();
    expect(chunks).to.deep.equal([{ index: 0 }]);
  });
});

describe('Processing a document with too few credits', () => {
  const env = { ...on, ...billingOn, WORKER_ENABLED: 'false', STRIPE_API_BASE: 'http://127.0.0.1:9', PLANS: '{"free":{"aiCredits":15}}' };
  const { api, tenant } = useApi({ env, check: 'at the end' });

  it('is refused, and left out of what a workspace does with an upload', async () => {
    const { token } = tenant.owner;
    const body = { autoProcess: [kind] };
    await expectOk(api.request('PATCH', `/api/v1/workspaces/${tenant.workspaceId}`, { token, body }));
    const first = await api.upload(tenant, { bytes: 'Eight of fifteen credits.' });
    const { id: documentId } = await api.upload(tenant, { bytes: 'One credit is missing.' });
    const refused = await api.request('POST', '/api/v1/jobs', { token, body: { kind, documentId } });
    expect(refused.body).to.deep.include({
      code: 'LIMIT_REACHED',
      data: { kind: 'aiCredits', limit: 15, plan: 'free', scope: 'organization' },
    });
    const jobs = await api.database.db.selectFrom('job').select(['document_id', 'credits']).execute();
    expect(jobs).to.deep.equal([{ document_id: first.id, credits: 8 }]);
  });
});

describe('Processing a document where it is off', () => {
  const { api, tenant } = useApi({ env: { WORKER_ENABLED: 'false' }, check: 'at the end' });

  it('is refused as a kind that nobody has, as a job and as what a workspace does', async () => {
    const { token } = tenant.owner;
    const { id: documentId } = await api.upload(tenant, { bytes: 'A text.' });
    const create = (name: string) => api.request('POST', '/api/v1/jobs', { token, body: { kind: name, documentId } });
    const [off, unknown] = [await create(kind), await create('document.guess')];
    expect([off.status, off.body]).to.deep.equal([unknown.status, unknown.body]);
    for (const autoProcess of [
      ['document.index', kind],
      ['document.index', 'document.guess'],
    ]) {
      const body = { autoProcess };
      const { body: refused } = await api.request('PATCH', `/api/v1/workspaces/${tenant.workspaceId}`, { token, body });
      const message =
        'must be one of document.extract, document.summarize, document.index, or one that the deployment adds by EXTRA_JOB_KINDS';
      expect([refused.code, refused.data.issues]).to.deep.equal(['BAD_REQUEST', [{ path: ['autoProcess', 1], message }]]);
      const made = { organizationId: tenant.organizationId, name: 'Second', slug: 'second', ...body };
      expect((await api.request('POST', '/api/v1/workspaces', { token, body: made })).body.code).to.equal('BAD_REQUEST');
    }
    const { body } = await expectOk(api.request('GET', '/api/v1/job-kinds', { token }));
    expect(body.jobKinds).not.to.include(kind);
  });

  it('is left out of what a workspace does that named it before', async () => {
    const { db } = api.database;
    const auto_process = [kind, 'document.index'] as const;
    await db
      .updateTable('workspace')
      .set({ auto_process: [...auto_process] })
      .where('id', '=', tenant.workspaceId)
      .execute();
    const { id } = await api.upload(tenant, { bytes: 'Another text.' });
    expect(await db.selectFrom('job').select('kind').where('document_id', '=', id).execute()).to.deep.equal([{ kind: 'document.index' }]);
  });
});
