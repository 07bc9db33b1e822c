import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { sql } from 'kysely';
import type { Answer, Tenant } from '../support/api.ts';
import { expectSoundLedger, summary } from '../support/jobs.ts';
import { untilWaiting } from '../support/locks.ts';
import { nightly } from '../support/nightly.ts';
import { until } from '../support/processes.ts';
import { useApi } from '../support/use-api.ts';
import { type ExtraWorker, startExtraWorker } from '../support/workers.ts';
import { billingOn } from './auth/support/service.ts';

/** More than end in the request that deletes their workspace. */
const manyJobs = 450;
const manyDocuments = 900;

describe('The deletion of a workspace', () => {
  // No worker: what a deletion leaves to its workflow stays, until a test starts one.
  const { api } = useApi({ env: { ...billingOn, WORKER_ENABLED: 'false', PLANS: '{"free":{"workspaces":2,"aiCredits":100000}}' } });
  let tenant: Tenant;
  let doomed: { id: string; slug: string };
  beforeEach(async () => {
    tenant = await api.createTenant();
    doomed = (await create()).body;
  });

  const call = (method: string, path: string, body?: unknown): Promise<Answer> =>
    api.request(method, `/api/v1${path}`, { token: tenant.owner.token, body });
  const create = (slug = 'doomed') => call('POST', '/workspaces', { organizationId: tenant.organizationId, name: 'Doomed', slug });
  const remove = () => call('DELETE', `/workspaces/${doomed.id}`);
  const statusOf = async (answer: Promise<Answer>) => (await answer).status;
  const creditsUsed = async () => (await call('GET', `/organizations/${tenant.organizationId}/usage`)).body.usage.aiCredits;

  /** Documents with chunks, objects, and jobs of which every second one is queued, as the API would have written them. */
  async function fill(documents: number, jobs: number): Promise<void> {
    const { db } = api.database;
    const { organizationId } = tenant;
    await sql`insert into document (id, organization_id, workspace_id, name, content_type, size_bytes, status, object_key, chunk_count)
      select ${doomed.id} || '-' || n, ${organizationId}, ${doomed.id}, 'seed.txt', 'text/plain', 1, 'ready',
        ${organizationId} || '/' || ${doomed.id} || '-' || n, 3 from generate_series(1, ${documents}::int) n`.execute(db);
    await sql`insert into chunk (id, organization_id, workspace_id, document_id, index, text, model, embedding)
      select id || '-' || i, organization_id, workspace_id, id, i, 'text', 'm', '{1}' from document, generate_series(0, 2) i
      where workspace_id = ${doomed.id}`.execute(db);
    await sql`insert into job (id, organization_id, workspace_id, document_id, kind, status, input, result, max_attempts, credits, credit_month,
        created_at, finished_at)
      select ${doomed.id} || '-' || n, ${organizationId}, ${doomed.id}, ${doomed.id} || '-' || n, 'document.extract',
        case when n % 2 = 0 then 'queued' else 'succeeded' end, jsonb_build_object('documentId', ${doomed.id} || '-' || n),
        case when n % 2 = 1 then '{"characters": 1, "pages": null, "truncated": false}'::jsonb end, 4, 1,
        date_trunc('month', now() at time zone 'utc'), now() - make_interval(secs => n), case when n % 2 = 1 then now() end
      from generate_series(1, ${jobs}::int) n`.execute(db);
    await sql`insert into credit_entry (organization_id, key, amount, month, job_id, reason)
      select organization_id, 'job:' || id || ':charge', 1, credit_month, id, kind from job where workspace_id = ${doomed.id}`.execute(db);
    await sql`insert into credit_month (organization_id, month, used)
      select organization_id, month, sum(amount) from credit_entry where organization_id = ${organizationId} group by 1, 2`.execute(db);
    await sql`update workspace set used_bytes = ${documents} where id = ${doomed.id}`.execute(db);
  }

  /** How many rows of each table name the workspace. */
  async function left(): Promise<Record<string, number>> {
    const counts: Record<string, number> = {};
    for (const table of ['workspace_deletion', 'document', 'chunk', 'vector_block', 'job']) {
      const { rows } = await sql<{ count: number }>`
        select count(*) from ${sql.table(table)} where workspace_id = ${doomed.id}
      `.execute(api.database.db);
      counts[table] = rows[0]?.count ?? 0;
    }
    return counts;
  }
  const nothing = { workspace_deletion: 0, document: 0, chunk: 0, vector_block: 0, job: 0 };

  it('waits for none of its rows, and lets nobody wait', async () => {
    const place = { owner: tenant.owner, workspaceId: doomed.id };
    const { id } = await api.upload(place, { bytes: 'A text.' });
    await api.database.db.transaction().execute(async (trx) => {
      await trx.selectFrom('document').select('id').where('id', '=', id).forUpdate().execute();
      const removing = remove();
      const first = await Promise.race([removing.then(() => 'deleted'), untilWaiting(api.database.db, 1).then(() => 'waits')]);
      expect(first).to.equal('deleted');
      expect(await statusOf(removing)).to.equal(200);
      const upload = { workspaceId: tenant.workspaceId, name: 'a.txt', contentType: 'text/plain', size: 4 };
      expect(await statusOf(call('POST', '/documents', upload))).to.equal(200);
    });
  });

  it('takes everything from every reader at once, while its rows are still there', async () => {
    const { organizationId } = tenant;
    await fill(3, manyJobs);
    const document = `${doomed.id}-1`;
    const oldest = `${doomed.id}-${manyJobs}`;
    const text = { kind: 'text.embed', organizationId, workspaceId: doomed.id, texts: ['a'] };
    const before = await creditsUsed();
    const pending = await call('POST', '/documents', { workspaceId: doomed.id, name: 'a.txt', contentType: 'text/plain', size: 4 });

    expect(await statusOf(remove())).to.equal(200);

    expect(await left()).to.include({ workspace_deletion: 1, document: 4, chunk: 9 });
    const reads = {
      workspace: call('GET', `/workspaces/${doomed.slug}?organizationId=${organizationId}`),
      change: call('PATCH', `/workspaces/${doomed.id}`, { name: 'X' }),
      again: remove(),
      documents: call('GET', `/workspaces/${doomed.id}/documents?organizationId=${organizationId}`),
      search: call('POST', `/workspaces/${doomed.id}/documents/search`, { query: 'text' }),
      document: call('GET', `/documents/${document}`),
      text: call('GET', `/documents/${document}/text`),
      download: call('GET', `/documents/${document}/download-url`),
      deletion: call('DELETE', `/documents/${document}`),
      completion: call('POST', `/documents/${pending.body.document.id}/complete`),
      upload: call('POST', '/documents', { workspaceId: doomed.id, name: 'a.txt', contentType: 'text/plain', size: 4 }),
      job: call('POST', '/jobs', { kind: 'document.extract', documentId: document }),
      'job on a text': call('POST', '/jobs', text),
      jobs: call('GET', `/organizations/${organizationId}/jobs?workspaceId=${doomed.id}`),
      'jobs of a document': call('GET', `/organizations/${organizationId}/jobs?documentId=${document}`),
      stream: call('GET', `/organizations/${organizationId}/jobs/stream?workspaceId=${doomed.id}`),
    };
    for (const [what, read] of Object.entries(reads)) expect(await statusOf(read), what).to.equal(404);
    const put = await fetch(pending.body.upload.url, { method: 'PUT', headers: pending.body.upload.headers, body: 'abcd' });
    expect(put.status).to.equal(404);

    const workspaces = (await call('GET', `/workspaces?organizationId=${organizationId}`)).body;
    expect(workspaces.map(({ slug }: { slug: string }) => slug)).to.deep.equal(['main']);
    for (const id of [document, oldest]) {
      expect((await call('GET', `/jobs/${id}`)).body).to.include({ workspaceId: null, documentId: null });
    }
    const page = (await call('GET', `/organizations/${organizationId}/jobs?limit=100&status=queued`)).body.items;
    expect(page).to.have.lengthOf(100);
    for (const job of page) expect(job).to.include({ workspaceId: null, documentId: null });
    expect((await call('POST', `/jobs/${oldest}/cancel`)).body).to.include({ status: 'canceled', workspaceId: null, documentId: null });
    // The newest two hundred have ended, a hundred of which were queued; and one was canceled.
    expect(await creditsUsed()).to.equal(before - 101);
    await expectSoundLedger(api);
    // Its place in the plan and its slug are free.
    expect(await statusOf(create())).to.equal(200);
    expect((await create('third')).body.code).to.equal('LIMIT_REACHED');
  });

  nightly('is finished by its workflow, also after its worker was killed in the middle: nothing is left', async () => {
    await fill(manyDocuments, manyJobs);
    const before = await creditsUsed();
    expect(await statusOf(remove())).to.equal(200);
    const [kept] = await Promise.all([api.upload(tenant, { bytes: 'kept' }), api.upload(tenant, { bytes: 'kept, too' })]);

    let worker: ExtraWorker = await startExtraWorker(api, { env: { WORKER_ENABLED: 'true' } });
    await until(async () => ((await left()).document ?? 0) < manyDocuments);
    await worker.kill();
    expect((await left()).workspace_deletion).to.equal(1);
    worker = await startExtraWorker(api, { env: { WORKER_ENABLED: 'true' } });
    try {
      await until(async () => (await left()).workspace_deletion === 0, 180_000);
      expect(await left()).to.deep.equal(nothing);
      const handle = api.temporal.client.workflow.getHandle(`delete-workspace-${doomed.id}`);
      expect((await handle.describe()).searchAttributes).to.deep.include({ WorkspaceId: [doomed.id] });
      await until(async () => (await api.database.db.selectFrom('object_to_delete').select('key').execute()).length === 0);
    } finally {
      await worker.kill();
    }
    expect(await creditsUsed()).to.equal(before - Math.floor(manyJobs / 2));
    await expectSoundLedger(api);
    const { rows } = await sql<{ unfinished: number }>`
      select count(*) as unfinished from job where organization_id = ${tenant.organizationId} and status in ('queued', 'running')
    `.execute(api.database.db);
    expect(rows).to.deep.equal([{ unfinished: 0 }]);
    expect((await call('GET', `/documents/${kept.id}`)).status).to.equal(200);
  }).timeout(300_000);
});

describe('The deletion of a workspace that is in full use', () => {
  const { api } = useApi({
    ai: true,
    services: ['api', 'worker'],
    check: 'at the end',
  });

  nightly('races uploads, jobs and searches in it: each is refused or undone, and nothing is left', async () => {
    const { db } = api.database;
    const tenant = await api.createTenant();
    const { token } = tenant.owner;
    const { organizationId } = tenant;
    const call = (method: string, path: string, body?: unknown) => api.request(method, `/api/v1${path}`, { token, body });
    for (let round = 0; round < 5; round++) {
      const { id } = (await call('POST', '/workspaces', { organizationId, name: 'Doomed', slug: `doomed-${round}` })).body;
      const place = { owner: tenant.owner, workspaceId: id };
      const uploads = await Promise.all(Array.from({ length: 4 }, () => api.upload(place, { bytes: 'One sentence. Another one.' })));
      const [first, second] = uploads.map((document) => document.id);
      // Before the others come: as long as it takes, they would add to what a busy worker has to do.
      await call('POST', '/jobs', { kind: 'document.index', documentId: first });
      await until(async () => (await call('GET', `/documents/${first}`)).body.chunkCount !== null);
      let used = 0;
      let deleted = false;
      const use = async (n: number) => {
        const answers: Answer[] = [];
        for (let more = 0; more < 3 || !deleted; more++) {
          const [document, ...others] = await Promise.all([
            call('POST', '/documents', { workspaceId: id, name: `${n}.txt`, contentType: 'text/plain', size: 4 }),
            call('POST', '/jobs', { kind: n % 2 ? 'document.index' : 'document.extract', documentId: n % 2 ? first : second }),
            call('POST', '/jobs', { ...summary, organizationId, workspaceId: id }),
            call('POST', `/workspaces/${id}/documents/search`, { query: 'a sentence' }),
          ]);
          answers.push(document, ...others);
          used++;
          if (document.status !== 200) continue;
          const { url, headers } = document.body.upload;
          await fetch(url, { method: 'PUT', headers, body: 'abcd' });
          answers.push(await call('POST', `/documents/${document.body.document.id}/complete`));
          if (deleted) break;
        }
        return answers;
      };
      const using = Promise.all([0, 1, 2].map(use));
      await until(() => used >= 3);
      const removed = await call('DELETE', `/workspaces/${id}`);
      deleted = true;
      expect(removed.status).to.equal(200);
      const answers = (await using).flat();
      // An upload whose document goes before its completion finds no object, or no document.
      for (const { status, body } of answers) expect([200, 404, 412, 429], JSON.stringify(body)).to.include(status);

      await until(async () => {
        const { rows } = await sql<{ left: number }>`select
          (select count(*) from workspace_deletion where workspace_id = ${id})
          + (select count(*) from job where organization_id = ${organizationId} and status in ('queued', 'running'))
          + (select count(*) from object_to_delete) as left`.execute(db);
        return rows[0]?.left === 0;
      });
      for (const table of ['document', 'chunk', 'vector_block', 'job']) {
        const { rows } = await sql`select from ${sql.table(table)} where workspace_id = ${id}`.execute(db);
        expect(rows, table).to.deep.equal([]);
      }
      const unsettled = await db
        .selectFrom('job')
        .select('id')
        .where('former_workspace_id', '=', id)
        .where('status', '=', 'queued')
        .execute();
      expect(unsettled).to.deep.equal([]);
    }
    const stored = readdirSync(join(api.stack.dataDir, 'objects', organizationId));
    const documents = await db.selectFrom('document').select('id').execute();
    expect(stored.filter((name) => !documents.some(({ id }) => id === name))).to.deep.equal([]);
  }).timeout(300_000);
});
