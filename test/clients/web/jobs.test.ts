import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { sql } from 'kysely';
import type { Route } from 'playwright-core';
import { createJob } from '../../support/jobs.ts';
import { until } from '../../support/processes.ts';
import { expectOk } from '../../support/requests.ts';
import type { Tenant } from '../../support/tenants.ts';
import { violationsOf } from './support/axe.ts';
import { pathOf, useConsole } from './support/use-console.ts';

/** The beginning of an id, which ends with the number of the document. */
const idOf = '0198d2c4-0000-7000-8000-00000000';

describe('The jobs of a busy workspace in the console', () => {
  const { api, open, tenant } = useConsole({ WORKER_ENABLED: 'false', EXTRA_JOB_KINDS: 'document.process' });

  /** Imports documents, each with a job that is queued. */
  async function importDocuments(from: number, to: number): Promise<void> {
    const { organizationId, workspaceId } = tenant;
    await sql`with added as (
        insert into document (id, organization_id, workspace_id, name, content_type, size_bytes, status, object_key, created_at)
        select ${idOf} || lpad(n::text, 4, '0'), ${organizationId}, ${workspaceId}, 'report ' || n, 'text/plain', 1, 'ready', 'import/' || n, now() + n * interval '1 ms'
        from generate_series(${from}::int, ${to}::int) as n
      )
      insert into job (id, organization_id, workspace_id, document_id, kind, status, input, max_attempts, credits, credit_month, created_at, finished_at)
      select ${idOf} || lpad(n::text, 4, '0'), ${organizationId}, ${workspaceId}, ${idOf} || lpad(n::text, 4, '0'), 'document.index', 'canceled', jsonb_build_object('documentId', ${idOf} || lpad(n::text, 4, '0')), 1, 1, '2026-01-01', now() + n * interval '1 ms', now()
      from generate_series(${from}::int, ${to}::int) as n`.execute(api.database.db);
  }

  it('are a page that begins anew instead of growing, whose documents are named by a list of the newest', async () => {
    const { page, complaints } = await open(pathOf(tenant, 'jobs'), { as: tenant.owner });
    const asked: string[] = [];
    page.on('request', (request) => void asked.push(new URL(request.url()).pathname));
    await page.getByText('Live', { exact: true }).waitFor();
    await importDocuments(1, 30);
    await page.getByRole('row', { name: /report 30\b/ }).waitFor();
    await importDocuments(31, 250);
    await page.getByRole('row', { name: /report 250\b/ }).waitFor();
    const rows = page.locator('tbody tr');
    await until(async () => (await rows.count()) < 200);
    expect(asked.filter((path) => path.endsWith('/documents/get'))).to.deep.equal([]);
    await page.getByRole('button', { name: 'Show more' }).click();
    await page.getByRole('row', { name: /report 201\b/ }).waitFor();
    const names = await rows.getByRole('link', { name: /report/ }).allTextContents();
    expect(new Set(names).size).to.equal(names.length);
    expect(complaints).to.deep.equal([]);
  });

  it('are told beside their documents, until these have been read', async () => {
    const other = await api.createTenant();
    const { page } = await open(pathOf(other, 'documents'), { as: other.owner });
    await page.locator('input[type=file]').setInputFiles({ name: 'note.txt', mimeType: 'text/plain', buffer: Buffer.from('A note.') });
    const row = page.getByRole('row', { name: /note\.txt/ });
    await row.getByText('Waiting').waitFor();
    const call = async (method: string, path: string) =>
      (await expectOk(api.request(method, `/api/v1${path}`, { token: other.owner.token }))).body;
    const [job] = (await call('GET', `/organizations/${other.organizationId}/jobs`)).items;
    await sql`update job set status = 'running', started_at = now(), attempts = 1 where id = ${job.id}`.execute(api.database.db);
    await row.getByText('In progress').waitFor();
    await row.getByRole('link', { name: 'note.txt' }).click();
    await page.getByText('In progress').waitFor();
    await sql`update job set status = 'queued', started_at = null where id = ${job.id}`.execute(api.database.db);
    await page.getByText('Waiting').waitFor();
    await call('POST', `/jobs/${job.id}/cancel`);
    await page.getByText('Stored', { exact: true }).first().waitFor();
    await page.getByText('Waiting').waitFor({ state: 'detached' });
  });

  it('are told beside their documents from the beginning, too, before they change', async () => {
    const other = await api.createTenant();
    const create = async (name: string) => {
      const { id: documentId } = await api.upload(other, { name, bytes: name });
      return await createJob(api, other, { kind: 'document.index', documentId });
    };
    const [waits, runs] = [await create('waits.txt'), await create('runs.txt')];
    await sql`update job set status = 'running', started_at = now(), attempts = 1 where id = ${runs.id}`.execute(api.database.db);
    const { page } = await open(pathOf(other, 'documents'), { as: other.owner });
    await page
      .getByRole('row', { name: /runs\.txt/ })
      .getByText('In progress')
      .waitFor();
    const row = page.getByRole('row', { name: /waits\.txt/ });
    await row.getByText('Waiting').waitFor();
    await expectOk(api.request('POST', `/api/v1/jobs/${waits.id}/cancel`, { token: other.owner.token }));
    await row.getByText('Stored', { exact: true }).waitFor();
    await page.goto(`${api.url}${pathOf(other, 'documents')}/${runs.documentId}`);
    await page.getByText('In progress').waitFor();
  });

  it('are shown as they became while their list was read', async () => {
    const { organizationId, workspaceId, owner } = tenant;
    const { page } = await open(pathOf(tenant, 'jobs'), { as: owner });
    await page.getByText('Live', { exact: true }).waitFor();
    const body = { kind: 'text.summarize', organizationId, workspaceId, text: 'One. Two.' };
    const { body: job } = await api.request('POST', '/api/v1/jobs', { token: owner.token, body });
    await page.getByRole('row', { name: /Summarize a text.*Queued/ }).waitFor();
    let answer = () => {};
    const held = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const isRead = page.waitForRequest('**/rpc/jobs/list');
    const hold = async (route: Route) => {
      const response = await route.fetch();
      await api.request('POST', `/api/v1/jobs/${job.id}/cancel`, { token: owner.token });
      await held;
      await route.fulfill({ response });
    };
    await page.route('**/rpc/jobs/list', hold, { times: 1 });
    await page.getByLabel('Show jobs by state').getByText('Queued').click();
    await isRead;
    await api.jobIn(owner.token, job.id, ['canceled']);
    // The event comes before the list.
    await delay(1_000);
    answer();
    await page.getByText('No job meets the filters.').waitFor();
  });

  it('name older documents one by one, and say which are deleted', async () => {
    const { workspaceId } = tenant;
    await importDocuments(1_000, 1_000);
    await sql`update document set created_at = now() - interval '1 day', name = 'an old report' where id = ${`${idOf}1000`}`.execute(
      api.database.db,
    );
    await importDocuments(1_001, 1_001);
    await sql`delete from document where id = ${`${idOf}1001`}`.execute(api.database.db);
    await sql`update job set created_at = created_at - interval '1 hour' where workspace_id = ${workspaceId}`.execute(api.database.db);
    const { page } = await open(pathOf(tenant, 'jobs'), { as: tenant.owner });
    await page.getByRole('row', { name: /an old report/ }).waitFor();
    await page.getByRole('row', { name: /deleted document/ }).waitFor();
  });

  it('are narrowed by kind, by the address too, also those that come', async () => {
    const busy = await api.createTenant();
    const { organizationId, workspaceId } = busy;
    const text = { kind: 'text.embed', organizationId, workspaceId, texts: ['mirrors'] };
    const { id: documentId } = await api.upload(busy, { bytes: 'A note.' });
    await createJob(api, busy, text);
    const { page } = await open(pathOf(busy, 'jobs'), { as: busy.owner });
    const rows = page.locator('tbody tr');
    const shows = (...names: RegExp[]) =>
      until(
        async () =>
          (await rows.count()) === names.length &&
          (await rows.evaluateAll((all) => all.map((row) => row.textContent ?? ''))).every((row, n) => names[n]?.test(row)),
      );
    await shows(/^Embed texts/);
    await page.getByLabel('Show jobs by kind').selectOption('Read');
    await page.getByText('No job meets the filters.').waitFor();
    await createJob(api, busy, text);
    await createJob(api, busy, { kind: 'document.extract', documentId });
    await shows(/^Read/);
    await page.getByLabel('Show jobs by state').getByText('Queued').click();
    await page.waitForURL(/status=queued/);
    expect(new URL(page.url()).searchParams.get('kind')).to.equal('document.extract');
    await page.reload();
    await shows(/^Read/);
    await page.getByLabel('Show jobs by kind').selectOption('All kinds');
    await shows(/^Read/, /^Embed texts/, /^Embed texts/);
    // A deployment offers the kinds that it has.
    expect(await page.getByLabel('Show jobs by kind').locator('option').allTextContents())
      .to.include('Read, make searchable and summarize')
      .and.not.to.include('Extract fields');
  });

  it('that failed are tried again once, whatever became of the retry, and stand once in a list that is shown further', async () => {
    const { db } = api.database;
    const busy = await api.createTenant();
    const { organizationId, workspaceId } = busy;
    const { token } = busy.owner;
    const jobs = Array.from({ length: 28 }, () => ({ kind: 'text.embed', organizationId, workspaceId, texts: ['mirrors'] }));
    const { body: made } = await expectOk(api.request('POST', `/api/v1/organizations/${organizationId}/jobs`, { token, body: { jobs } }));
    // The first is the newest.
    const ids: string[] = made.items.map(({ id }: { id: string }) => id);
    await sql`update job set created_at = now() - array_position(${ids}::text[], id::text) * interval '1 minute'
      where id = any(${ids})`.execute(db);
    const fail = (failed: (string | undefined)[], message: string) =>
      sql`update job set status = 'failed', error_code = 'ai_unreachable', error_message = ${message}, finished_at = now(),
        updated_at = clock_timestamp() where id = any(${failed})`.execute(db);
    await fail(ids.slice(1, -1), 'away');
    const { body: retry } = await expectOk(api.request('POST', `/api/v1/jobs/${ids[3]}/retry`, { token }));
    const result = JSON.stringify({ model: 'fake', dimensions: 1, vectors: [[1]] });
    await db.updateTable('job').set({ status: 'succeeded', result, finished_at: new Date() }).where('id', '=', retry.id).execute();

    const { page } = await open(pathOf(busy, 'jobs?status=failed'), { as: busy.owner });
    await page.getByText('Live', { exact: true }).waitFor();
    const rows = page.locator('tbody tr');
    await until(async () => (await rows.count()) === 25);
    // Of two that fail now the newer one is shown at once, the older one with its page.
    await fail(ids.slice(-1), 'old');
    await fail(ids.slice(0, 1), 'new');
    await rows.first().getByText('new', { exact: true }).waitFor();
    expect(await rows.getByText('old', { exact: true }).count()).to.equal(0);
    await page.getByRole('button', { name: 'Show more' }).click();
    await rows.last().getByText('old', { exact: true }).waitFor();
    expect(await rows.count()).to.equal(28);

    // The service takes it, but none of its answers arrives.
    const lose = async (route: Route) => {
      await route.fetch();
      await route.abort();
    };
    await page.route('**/rpc/jobs/retry', lose, { times: 4 });
    await page.getByRole('button', { name: 'Try 28 jobs again' }).click();
    const dialog = page.getByRole('dialog', { name: 'Try 27 jobs again' });
    await dialog.getByText('27 credits in all').waitFor();
    await dialog.getByRole('button', { name: 'Try again' }).click();
    await dialog.getByRole('alert').waitFor();
    await dialog.getByRole('button', { name: 'Try again' }).click();
    await dialog.waitFor({ state: 'detached' });
    const retries = await db.selectFrom('job').select('retry_of').where('organization_id', '=', organizationId).execute();
    expect(retries.flatMap(({ retry_of }) => retry_of ?? []).sort()).to.deep.equal([...ids].sort());
    await page.getByLabel('Show jobs by state').getByText('Failed').click();
    await page.getByRole('button', { name: 'Try 28 jobs again' }).click();
    await page.getByText('Each of them has been tried again already.').waitFor();
  });

  it('are all tried again that can be, and it is said why the others were not', async () => {
    const { db } = api.database;
    const busy = await api.createTenant();
    const { organizationId, workspaceId } = busy;
    const { token } = busy.owner;
    const { id: documentId } = await api.upload(busy, { bytes: 'Gone soon.' });
    const text = { kind: 'text.embed', organizationId, workspaceId, texts: ['mirrors'] };
    for (const body of [text, { kind: 'document.index', documentId }, text, { kind: 'document.index', documentId }])
      await expectOk(api.request('POST', '/api/v1/jobs', { token, body }));
    const failed = { status: 'failed' as const, error_code: 'ai_unreachable', error_message: 'away', finished_at: new Date() };
    await db.updateTable('job').set(failed).where('organization_id', '=', organizationId).execute();
    await expectOk(api.request('DELETE', `/api/v1/documents/${documentId}`, { token }));

    const { page } = await open(pathOf(busy, 'jobs?status=failed'), { as: busy.owner });
    await page.getByRole('button', { name: 'Try 4 jobs again' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Try again' }).click();
    const said = page.getByRole('dialog').getByRole('status');
    await said.getByText('Queued: 2 jobs. Not queued: 2 jobs.').waitFor();
    await said.getByText('The document of this job is gone. (2 jobs)').waitFor();
    const retries = await db
      .selectFrom('job')
      .select('kind')
      .where('retry_of', 'is not', null)
      .where('workspace_id', '=', workspaceId)
      .execute();
    expect(retries.map(({ kind }) => kind)).to.deep.equal(['text.embed', 'text.embed']);
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  });

  it('are selected to be tried again or canceled at once; each has a menu, which says if something failed', async () => {
    const busy = await api.createTenant();
    const { organizationId, workspaceId } = busy;
    const { token } = busy.owner;
    const jobs = Array.from({ length: 4 }, () => ({ kind: 'text.embed', organizationId, workspaceId, texts: ['mirrors'] }));
    const { body: made } = await expectOk(api.request('POST', `/api/v1/organizations/${organizationId}/jobs`, { token, body: { jobs } }));
    const ids: string[] = made.items.map(({ id }: { id: string }) => id);
    const failed = { status: 'failed' as const, error_code: 'ai_unreachable', error_message: 'away', finished_at: new Date() };
    await api.database.db.updateTable('job').set(failed).where('id', 'in', ids.slice(0, 2)).execute();
    const stateOf = (state: 'queued' | 'canceled') =>
      api.database.db.selectFrom('job').select('id').where('organization_id', '=', organizationId).where('status', '=', state).execute();

    const { page, complaints } = await open(pathOf(busy, 'jobs'), { as: busy.owner });
    await page.getByText('Live', { exact: true }).waitFor();
    await page.getByRole('checkbox', { name: 'Select all that are shown' }).check();
    const bar = page.getByRole('group', { name: /^[24] selected/ });
    await bar.getByRole('button', { name: 'Cancel 2 jobs' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel 2 jobs' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await stateOf('canceled')).to.have.length(2);
    await bar.getByRole('button', { name: 'Try 2 jobs again' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await stateOf('queued')).to.have.length(2);

    await page.goto(`${api.url}${pathOf(busy, 'jobs?status=queued')}`);
    await page.getByText('Live', { exact: true }).waitFor();
    const menus = page.getByRole('button', { name: 'Actions for Embed texts, no document' });
    const choose = async () => {
      await menus.first().click();
      await page.getByRole('menuitem', { name: 'Cancel' }).click();
    };
    await choose();
    await until(async () => (await menus.count()) === 1);
    expect(complaints).to.deep.equal([]);
    await page.route('**/rpc/jobs/cancel', (route) => route.abort());
    await choose();
    await page.getByRole('dialog', { name: 'Cancel' }).getByRole('alert').waitFor();
    expect(await stateOf('queued')).to.have.length(1);
  });

  it('of an upload are those of its workspace and no other, show how much of a process is done, and its document the summary', async () => {
    const { db } = api.database;
    const { organizationId, owner, slug, workspaceId } = await api.createTenant();
    const { token } = owner;
    await expectOk(api.request('PATCH', `/api/v1/workspaces/${workspaceId}`, { token, body: { autoProcess: ['document.process'] } }));
    const { page, complaints } = await open(`/o/${slug}/main/documents`, { as: owner });
    const file = { name: 'process.txt', mimeType: 'text/plain', buffer: Buffer.from('One. Two.') };
    await page.locator('input[type=file]').setInputFiles(file);
    await page.getByRole('region', { name: 'Uploads' }).getByText('Stored', { exact: true }).waitFor();
    const made = await expectOk(api.request('GET', `/api/v1/organizations/${organizationId}/jobs`, { token }));
    expect(made.body.items).to.have.length(1);
    const [job] = made.body.items;
    await page.getByRole('link', { name: 'Jobs' }).click();
    const change = (values: object) =>
      db
        .updateTable('job')
        .set({ ...values, updated_at: sql`clock_timestamp()` })
        .where('id', '=', job.id)
        .execute();
    await page.getByText('Live', { exact: true }).waitFor();
    const row = (state: string) => page.getByRole('row', { name: `Read, make searchable and summarize process.txt ${state}` });
    await row('Queued').waitFor();
    // What goes on by itself does not ask for another try.
    const failure = { error_code: 'ai_failed', error_message: 'The AI service failed.' };
    const away = { next_attempt_at: new Date(Date.now() + 600_000), waits_for: 'chat', waiting_since: new Date() };
    await change({ ...failure, ...away });
    await page.getByText('Waiting: a provider is away. It goes on by itself.').waitFor();
    expect(await page.getByText('The AI service failed.').count()).to.equal(0);
    const back = { error_code: null, error_message: null, next_attempt_at: null, waits_for: null, waiting_since: null };
    await change(back);
    await change({ status: 'running', started_at: new Date(), stages: JSON.stringify({ extract: {} }) });
    await row('Running 33%').waitFor();
    await change({ stages: JSON.stringify({ extract: {}, index: {} }) });
    await row('Running 67%').waitFor();
    const result = {
      extract: { characters: 9, pages: null, truncated: false },
      index: { chunks: 1, characters: 9, model: 'fake', dimensions: 2 },
      summarize: { summary: 'The short of it.', sentences: 1, model: 'fake', characters: 9 },
    };
    await change({ status: 'succeeded', result: JSON.stringify(result), finished_at: sql`created_at + interval '12 seconds'` });
    await row(`Succeeded 12 sec ${job.credits}`).waitFor();
    await page.getByRole('link', { name: 'process.txt' }).click();
    await page.getByText('The short of it.').waitFor();
    expect(complaints).to.deep.equal([]);
  });

  describe('The page of a job in the console', () => {
    let tenant: Tenant;
    let documentId: string;
    let jobId: string;

    const change = (values: object, id = jobId) =>
      api.database.db
        .updateTable('job')
        .set({ ...values, updated_at: sql`clock_timestamp()` })
        .where('id', '=', id)
        .execute();

    before(async () => {
      tenant = await api.createTenant();
      const { token } = tenant.owner;
      documentId = (await api.upload(tenant, { name: 'report.txt', bytes: 'One. Two.' })).id;
      const body = { kind: 'document.summarize', documentId };
      jobId = (await expectOk(api.request('POST', '/api/v1/jobs', { token, body }))).body.id;
    });

    it('is reached from the list and from the document, and follows the job to its end', async () => {
      const { page, complaints } = await open(pathOf(tenant, 'jobs'), { as: tenant.owner });
      await page.getByRole('link', { name: 'Summarize', exact: true }).click();
      await page.getByRole('heading', { name: 'Summarize', exact: true }).waitFor();
      const course = page.getByRole('list', { name: 'What happened' });
      expect(await course.getByRole('listitem').count()).to.equal(1);
      const fact = (name: string) => page.locator('.facts > div').filter({ has: page.getByText(name, { exact: true }) });
      await fact('Attempts').getByText('0 of 4').waitFor();
      await fact('Started by').getByText('Ada', { exact: true }).waitFor();
      await page.getByRole('button', { name: 'Cancel' }).waitFor();

      const failed = { attempts: 1, started_at: new Date(), error_code: 'ai_unreachable', error_message: 'The AI service is away.' };
      await change({ ...failed, status: 'running' });
      await course.getByText('First attempt began').waitFor();
      await change({ status: 'queued', next_attempt_at: new Date(Date.now() + 600_000) });
      await page.getByRole('alert').getByText('The AI service is away.').waitFor();
      await course
        .getByText('Next attempt')
        .getByText(/in 10 minutes/)
        .waitFor();

      const result = JSON.stringify({ summary: 'The short of it.', sentences: 1, model: 'fake', characters: 9 });
      const finished = { error_code: null, error_message: null, next_attempt_at: null, finished_at: new Date() };
      await change({ ...finished, status: 'succeeded', attempts: 2, result });
      await page.getByRole('region', { name: 'What it made' }).getByText('The short of it.').waitFor();
      await course.getByText('Attempt 2 began').waitFor();
      await course.getByText(/^Succeeded, after/).waitFor();
      expect(await page.getByRole('button', { name: /Cancel|Try again/ }).count()).to.equal(0);

      await fact('Document').getByRole('link', { name: 'report.txt' }).click();
      const jobs = page.getByRole('region', { name: 'Jobs of this document' });
      await jobs.getByRole('link', { name: 'Summarize' }).click();
      await page.getByRole('region', { name: 'What it made' }).waitFor();
      expect(complaints).to.deep.equal([]);
    });

    it('says why a job failed and what was given back, and leads to the next try, if one can succeed', async () => {
      await change({ status: 'failed', result: null, error_code: 'ai_unreachable', error_message: 'away', finished_at: new Date() });
      const { page } = await open(pathOf(tenant, `jobs/${jobId}`), { as: tenant.owner, viewport: { width: 390, height: 800 } });
      await page.getByText('None: 5 credits given back').waitFor();
      expect(await violationsOf(page)).to.deep.equal([]);
      expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).to.be.at.most(0);
      await page.getByRole('button', { name: 'Try again' }).click();
      await page.getByRole('link', { name: 'the job before it' }).waitFor();
      await page.getByText('Queued', { exact: true }).first().waitFor();
      await page.getByRole('link', { name: 'the job before it' }).click();
      await page.getByText('The last attempt failed (ai_unreachable)').waitFor();

      await change({ error_code: 'encrypted_document', error_message: 'needs a password' });
      await page.reload();
      await page.getByText('Another try would fail in the same way').waitFor();
      expect(await page.getByRole('button', { name: 'Try again' }).count()).to.equal(0);
    });
  });
});
