import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { sql } from 'kysely';
import { billingOn } from '../api/auth/support/service.ts';
import type { Answer, Tenant } from '../support/api.ts';
import { goodAnswer, holdCalls } from '../support/fake-ai.ts';
import { amountsOf, createJob, creditsUsed, summary } from '../support/jobs.ts';
import { until } from '../support/processes.ts';
import { useApi } from '../support/use-api.ts';

const storageBytes = 1_000;
const aiCredits = 12;
const rounds = 4;

describe('Requests that race', () => {
  const { api, ai } = useApi({
    ai: true,
    env: {
      ...billingOn,
      WORKER_CONCURRENCY: '8',
      PLANS: JSON.stringify({ free: { storageBytes, aiCredits } }),
    },
    check: 'after each test',
  });

  const post = (tenant: Tenant, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    api.request('POST', `/api/v1${path}`, { token: tenant.owner.token, body, headers });
  const codes = (answers: { status: number; body: any }[]) => answers.map(({ status, body }) => (status === 200 ? 200 : body.code)).sort();
  const together = <T>(count: number, run: (n: number) => Promise<T>) => Promise.all(Array.from({ length: count }, (_, n) => run(n)));
  const usedBytes = async (tenant: Tenant) => {
    const path = `/api/v1/workspaces/main?organizationId=${tenant.organizationId}`;
    return (await api.request('GET', path, { token: tenant.owner.token })).body.storage.usedBytes;
  };

  it('to retry one job: each is a new job while the credits last, and one key is one job', async () => {
    for (let round = 0; round < rounds; round++) {
      const tenant = await api.createTenant();
      const { id: documentId } = await api.upload(tenant, { bytes: 'x' });
      ai.behave('extract', () => ({ status: 422, body: { error: { code: 'unreadable_document', message: 'It is damaged.' } } }));
      const original = await createJob(api, tenant, { kind: 'document.summarize', documentId });
      await api.jobIn(tenant.owner.token, original.id, ['failed']);
      // What is retried must not give its credits back in the middle of the race.
      const letGo = holdCalls(ai, 'extract');

      const retry = (headers = {}) => post(tenant, `/jobs/${original.id}/retry`, undefined, headers);
      const sameKey = await together(3, () => retry({ 'idempotency-key': 'once' }));
      expect(codes(sameKey)).to.deep.equal([200, 200, 200]);
      expect(new Set(sameKey.map(({ body }) => body.id)).size).to.equal(1);
      const others = await together(3, () => retry());
      expect(codes(others)).to.deep.equal([200, 'LIMIT_REACHED', 'LIMIT_REACHED']);
      expect(await creditsUsed(api, tenant.organizationId)).to.equal(10);

      letGo();
      const retries = [...sameKey.slice(0, 1), ...others.filter(({ status }) => status === 200)];
      for (const { body } of retries) {
        expect(body.input.retryOf).to.equal(original.id);
        await api.jobIn(tenant.owner.token, body.id, ['succeeded']);
      }
      expect(await amountsOf(api, original.id)).to.deep.equal([5, -5]);
    }
    ai.behave('extract');
  });

  it('to complete and to delete one document: it is gone, and so are its bytes', async () => {
    for (let round = 0; round < rounds; round++) {
      const tenant = await api.createTenant();
      const { document, upload } = (
        await post(tenant, '/documents', { workspaceId: tenant.workspaceId, name: 'a.txt', contentType: 'text/plain', size: 10 })
      ).body;
      await fetch(upload.url, { method: 'PUT', headers: upload.headers, body: '12345' });

      const [completed, deleted] = await Promise.all([
        post(tenant, `/documents/${document.id}/complete`),
        api.request('DELETE', `/api/v1/documents/${document.id}`, { token: tenant.owner.token }),
      ]);

      expect(deleted.status).to.equal(200);
      expect(completed.status === 200 || ['NOT_FOUND', 'PRECONDITION_FAILED'].includes(completed.body.code)).to.equal(true);
      expect((await api.request('GET', `/api/v1/documents/${document.id}`, { token: tenant.owner.token })).status).to.equal(404);
      expect(await usedBytes(tenant)).to.equal(0);
    }
  });

  it('to create jobs on a document and to delete it: each job is there and refunded, or was refused', async () => {
    for (let round = 0; round < rounds; round++) {
      const tenant = await api.createTenant();
      const { id: documentId } = await api.upload(tenant, { bytes: 'Some text.' });
      const [deleted, ...created] = await Promise.all([
        api.request('DELETE', `/api/v1/documents/${documentId}`, { token: tenant.owner.token }),
        ...Array.from({ length: 4 }, () => post(tenant, '/jobs', { kind: 'document.index', documentId })),
      ]);
      expect(deleted.status).to.equal(200);
      for (const { status, body } of created) {
        if (status === 200) await api.jobIn(tenant.owner.token, body.id, ['succeeded', 'failed']);
        else expect(body.code).to.equal('NOT_FOUND');
      }
    }
  });

  it('to delete a document while it is indexed: the job fails finally, is refunded, and leaves no chunk', async () => {
    for (let round = 0; round < rounds; round++) {
      const tenant = await api.createTenant();
      const { id: documentId } = await api.upload(tenant, { bytes: 'Some text.' });
      const embedding = Promise.withResolvers<void>();
      ai.behave('embed', async (call) => {
        embedding.resolve();
        await delay(round * 3);
        return goodAnswer(call);
      });
      const { id } = await createJob(api, tenant, { kind: 'document.index', documentId });
      await embedding.promise;
      const deleted = await api.request('DELETE', `/api/v1/documents/${documentId}`, { token: tenant.owner.token });
      expect(deleted.status).to.equal(200);

      const ended = await api.jobIn(tenant.owner.token, id, ['succeeded', 'failed']);

      if (ended.status === 'failed') expect(ended.error.code).to.equal('document_missing');
      expect(ended).to.include({ attempts: 1, documentId: null });
      const chunks = await api.database.db.selectFrom('chunk').select('id').where('document_id', '=', documentId).execute();
      expect(chunks).to.deep.equal([]);
      expect(await usedBytes(tenant)).to.equal(0);
    }
    ai.behave('embed');
  });

  it('to delete a workspace while a job of it runs: the job is done once, also if its workspace is drained later', async () => {
    const tenant = await api.createTenant();
    const { db } = api.database;
    const asked = ai.calls.length;
    const letGo = holdCalls(ai, 'summarize');
    const { id } = await createJob(api, tenant, { ...summary, workspaceId: tenant.workspaceId });
    await until(() => ai.calls.length > asked);
    // More than the deletion itself releases, and newer.
    await sql`
      insert into job (id, organization_id, workspace_id, kind, status, input, max_attempts, credits, credit_month, finished_at, created_at)
      select 'newer-' || n, ${tenant.organizationId}, ${tenant.workspaceId}, 'text.embed', 'succeeded', '{}', 4, 0, now(), now(),
        now() + interval '1 second'
      from generate_series(1, 201) n
    `.execute(db);
    const { token } = tenant.owner;
    expect((await api.request('DELETE', `/api/v1/workspaces/${tenant.workspaceId}`, { token })).status).to.equal(200);
    await db.transaction().execute(async (trx) => {
      // The drain waits for these.
      await sql`select from job where workspace_id = ${tenant.workspaceId} and id <> ${id} for update`.execute(trx);
      letGo();
      const failed = await api.jobIn(token, id, ['failed', 'succeeded']);
      expect([failed.status, failed.error.code]).to.deep.equal(['failed', 'workspace_missing']);
    });
    expect(ai.calls.length - asked).to.equal(1);
    expect(await amountsOf(api, id)).to.deep.equal([5, -5]);
  });

  it('fifty at a time in one organization: none fails, and no lock stands in another’s way', async () => {
    const tenant = await api.createTenant();
    const { organizationId } = tenant;
    await api.database.db
      .insertInto('subscription')
      .values({ id: crypto.randomUUID(), plan: 'team', referenceId: organizationId, status: 'active' } as never)
      .execute();
    const uploads = await together(50, async () => {
      const upload = { workspaceId: tenant.workspaceId, name: 'a.txt', contentType: 'text/plain', size: 10 };
      const created = await post(tenant, '/documents', upload);
      expect(created.status, JSON.stringify(created.body)).to.equal(200);
      const target = created.body.upload;
      await fetch(target.url, { method: 'PUT', headers: target.headers, body: '1234567890' });
      return created.body.document.id as string;
    });

    const answers: Answer[] = [];
    for (const half of [uploads.slice(0, 25), uploads.slice(25)]) {
      const completed = half.map((id) => post(tenant, `/documents/${id}/complete`));
      const created = half.map(() => post(tenant, '/jobs', { organizationId, ...summary }));
      answers.push(...(await Promise.all([...completed, ...created])));
    }
    const indexed = await Promise.all(uploads.map((documentId) => post(tenant, '/jobs', { kind: 'document.index', documentId })));
    const deleted = await Promise.all(
      uploads.slice(0, 25).map((id) => api.request('DELETE', `/api/v1/documents/${id}`, { token: tenant.owner.token })),
    );

    expect(new Set([...answers, ...indexed, ...deleted].map(({ status }) => status))).to.deep.equal(new Set([200]));
    await until(async () => {
      const left = await api.database.db.selectFrom('job').select('id').where('status', 'in', ['queued', 'running']).execute();
      return left.length === 0;
    });
    expect(await usedBytes(tenant)).to.equal(250);
    expect(api.stack.readLog('api')).not.to.include('deadlock');
  });
});
