import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { WorkflowNotFoundError } from '@temporalio/client';
import { expect } from 'chai';
import type { Tenant, TestApi, TestUser } from '../support/api.ts';
import { until } from '../support/processes.ts';
import { callOver } from '../support/transports.ts';
import { useApi } from '../support/use-api.ts';

describe('Workspaces', () => {
  // Jobs of the other kinds stay queued.
  const { api } = useApi({ env: { WORKER_JOB_KINDS: 'text.embed' } });
  let tenant: Tenant;
  let other: Tenant;
  let member: TestUser;
  let made = 0;

  before(async () => {
    [tenant, other, member] = await Promise.all([api.createTenant(), api.createTenant(), api.signUp('Member')]);
    await api.addMember(tenant.organizationId, member, 'member');
  });

  const call = (operation: string, input: Record<string, unknown>, token = tenant.owner.token) =>
    callOver(api, 'REST', operation, input, { token });
  async function create(values: Record<string, unknown> = {}): Promise<{ id: string; slug: string }> {
    const slug = `made-${++made}`;
    const { status, body } = await call('workspaces.create', { organizationId: tenant.organizationId, name: 'Made', slug, ...values });
    expect(status, JSON.stringify(body)).to.equal(200);
    return body;
  }
  async function createTeam({ owner, organizationId }: Tenant): Promise<string> {
    const body = { name: 'Red', organizationId };
    const { status, body: team } = await api.request('POST', '/api/auth/organization/create-team', { token: owner.token, body });
    expect(status).to.equal(200);
    return team.id;
  }
  const entriesOf = (workspaceId: string) =>
    api.database.db.selectFrom('audit_entry').selectAll().where('target_id', '=', workspaceId).orderBy('id').execute();

  describe('update', () => {
    it('changes what is given and leaves the rest', async () => {
      const workspace = await create();
      const teamId = await createTeam(tenant);
      const update = (input: Record<string, unknown>) =>
        callOver(api, 'REST', 'workspaces.update', { id: workspace.id, ...input }, { token: tenant.owner.token });
      expect((await update({ name: 'Renamed' })).body).to.deep.equal({ ...workspace, name: 'Renamed' });
      expect((await update({ slug: `${workspace.slug}-b`, teamId })).body).to.deep.include({ name: 'Renamed', teamId });
      const moved = await update({ teamId: null });
      expect(moved.body).to.deep.equal({ ...workspace, name: 'Renamed', slug: `${workspace.slug}-b`, teamId: null });
      const read = await call('workspaces.get', { organizationId: tenant.organizationId, slug: `${workspace.slug}-b` });
      expect(read.body).to.deep.include(moved.body);
    });

    it('takes an absent body, and writes no entry where nothing changes', async () => {
      const workspace = await create();
      const { token } = tenant.owner;
      expect((await api.request('PATCH', `/api/v1/workspaces/${workspace.id}`, { token })).body).to.deep.equal(workspace);
      expect((await call('workspaces.update', { id: workspace.id, slug: workspace.slug })).body).to.deep.equal(workspace);
      expect((await entriesOf(workspace.id)).map(({ action }) => action)).to.deep.equal(['workspace.create']);
      await call('workspaces.update', { id: workspace.id, name: 'Renamed' });
      const [, updated] = await entriesOf(workspace.id);
      expect(updated).to.deep.include({
        action: 'workspace.update',
        organization_id: tenant.organizationId,
        actor_id: tenant.owner.id,
        metadata: { name: { from: 'Made', to: 'Renamed' } },
      });
    });

    it('answers CONFLICT for a slug that is taken in the organization, not for one of another', async () => {
      const [workspace, taken] = [await create(), await create()];
      const refused = await call('workspaces.update', { id: workspace.id, slug: taken.slug, name: 'Never' });
      expect(refused.body).to.deep.include({ defined: true, code: 'CONFLICT', status: 409 });
      const { body } = await call('workspaces.list', { organizationId: tenant.organizationId });
      expect(body.find(({ id }: { id: string }) => id === workspace.id)).to.deep.equal(workspace);
      await callOver(
        api,
        'REST',
        'workspaces.create',
        { organizationId: other.organizationId, name: 'X', slug: 'elsewhere' },
        { token: other.owner.token },
      );
      const find = () => call('workspaces.get', { organizationId: tenant.organizationId, slug: 'elsewhere' });
      expect((await find()).status).to.equal(404);
      expect((await call('workspaces.update', { id: workspace.id, slug: 'elsewhere' })).status).to.equal(200);
      expect((await find()).body.id).to.equal(workspace.id);
    });

    it('lets one of several win a slug that all want at once', async () => {
      const workspaces = await Promise.all(Array.from({ length: 6 }, () => create()));
      const answers = await Promise.all([
        ...workspaces.map(({ id }) => call('workspaces.update', { id, slug: 'wanted' })),
        call('workspaces.create', { organizationId: tenant.organizationId, name: 'New', slug: 'wanted' }),
      ]);
      expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, ...Array(6).fill(409)]);
    });

    it('answers NOT_FOUND for a team of another organization and for no workspace', async () => {
      const workspace = await create();
      for (const teamId of [await createTeam(other), 'no-team']) {
        const refused = await call('workspaces.update', { id: workspace.id, teamId });
        expect(refused.body).to.deep.include({ defined: true, code: 'NOT_FOUND', status: 404 });
      }
      expect((await call('workspaces.update', { id: 'nothing', name: 'X' })).body).to.include({ defined: true, code: 'NOT_FOUND' });
    });
  });

  describe('delete', () => {
    let db: TestApi['database']['db'];
    before(() => {
      db = api.database.db;
    });
    const objectPath = (documentId: string) => join(api.stack.dataDir, 'objects', tenant.organizationId, documentId);
    const remove = (id: string, token = tenant.owner.token) => call('workspaces.delete', { id }, token);
    /** Undefined if it has not been started yet: the outbox starts it after the answer. */
    const workflowStatus = async (workflowId: string) => {
      try {
        return (await api.temporal.client.workflow.getHandle(workflowId).describe()).status.name;
      } catch (error) {
        if (error instanceof WorkflowNotFoundError) return undefined;
        throw error;
      }
    };

    it('removes documents, chunks and objects, and ends the workflow that waits for an upload', async () => {
      const workspace = await create();
      const place = { owner: tenant.owner, workspaceId: workspace.id };
      const ready = await api.upload(place, { bytes: 'A text to keep for a while.' });
      const upload = { workspaceId: workspace.id, name: 'late.txt', contentType: 'text/plain', size: 4 };
      const pending = await call('documents.createUpload', upload);
      await db
        .insertInto('chunk')
        .values({
          id: `chunk-${ready.id}`,
          organization_id: tenant.organizationId,
          workspace_id: workspace.id,
          document_id: ready.id,
          index: 0,
          text: 'A text',
          model: 'none',
          embedding: [1],
        })
        .execute();
      expect(existsSync(objectPath(ready.id))).to.equal(true);

      const { status, body } = await remove(workspace.id);
      expect([status, body]).to.deep.equal([200, { id: workspace.id }]);
      expect((await call('documents.get', { id: ready.id })).status).to.equal(404);
      expect((await call('documents.get', { id: pending.body.document.id })).status).to.equal(404);
      expect((await call('workspaces.get', { organizationId: tenant.organizationId, slug: workspace.slug })).status).to.equal(404);
      await until(async () => (await db.selectFrom('chunk').selectAll().where('workspace_id', '=', workspace.id).execute()).length === 0);
      await until(() => !existsSync(objectPath(ready.id)));
      await until(async () => (await workflowStatus(`upload-${pending.body.document.id}`)) === 'COMPLETED');
      await until(async () => (await db.selectFrom('object_to_delete').selectAll().execute()).length === 0);
      await until(async () => (await db.selectFrom('outbox').selectAll().execute()).length === 0);

      const deleted = (await entriesOf(workspace.id)).at(-1);
      expect(deleted).to.deep.include({ action: 'workspace.delete', actor_id: tenant.owner.id, actor_email: tenant.owner.email });
      expect(deleted?.metadata).to.deep.include({ slug: workspace.slug, documents: 2, failedJobs: 0 });
    });

    it('keeps its jobs without a workspace; the unfinished ones fail and are refunded, once', async () => {
      const workspace = await create();
      const place = { owner: tenant.owner, workspaceId: workspace.id };
      const { id: documentId } = await api.upload(place, { bytes: 'A text to read.' });
      const { organizationId } = tenant;
      const start = async (input: Record<string, unknown>) => (await call('jobs.create', input)).body.id as string;
      const finished = await start({ kind: 'text.embed', organizationId, workspaceId: workspace.id, texts: ['One'] });
      await api.jobIn(tenant.owner.token, finished, ['succeeded']);
      const failed = await start({ kind: 'text.summarize', organizationId, workspaceId: workspace.id, text: 'One. Two.' });
      await db
        .updateTable('job')
        .set({ status: 'failed', error_code: 'ai_failed', finished_at: new Date() })
        .where('id', '=', failed)
        .execute();
      const queued = await start({ kind: 'document.extract', documentId });
      const running = await start({ kind: 'document.index', documentId });
      const ofText = await start({ kind: 'text.summarize', organizationId, workspaceId: workspace.id, text: 'One. Two.' });
      const elsewhere = await start({ kind: 'text.summarize', organizationId, text: 'One. Two.' });
      await db
        .updateTable('job')
        .set({ status: 'running', attempts: 1, claimed_by: 'a-run/1', started_at: new Date() })
        .where('id', '=', running)
        .execute();
      const usedBefore = (await call('organizations.usage', { organizationId })).body.usage.aiCredits;

      expect((await remove(workspace.id)).status).to.equal(200);

      const read = async (id: string) => (await call('jobs.get', { id })).body;
      expect(await read(finished)).to.deep.include({ status: 'succeeded', workspaceId: null });
      for (const id of [queued, running]) {
        const job = await read(id);
        expect(job).to.deep.include({ status: 'failed', workspaceId: null, documentId: null });
        expect(job.error).to.deep.equal({ code: 'document_missing', message: 'The document no longer exists.' });
        expect(job.finishedAt).to.be.a('string');
      }
      expect((await read(ofText)).error.code).to.equal('workspace_missing');
      expect(await read(elsewhere)).to.deep.include({ status: 'queued' });
      const { body } = await call('organizations.usage', { organizationId });
      expect(body.usage.aiCredits).to.equal(usedBefore - 1 - 2 - 5);
      for (const id of [queued, running, ofText]) {
        const entries = await db.selectFrom('credit_entry').select('amount').where('job_id', '=', id).orderBy('id').execute();
        expect(entries.map(({ amount }) => amount)).to.have.length(2);
        expect((entries[0]?.amount ?? 0) + (entries[1]?.amount ?? 0)).to.equal(0);
      }
      for (const id of [queued, running, ofText]) await until(async () => (await workflowStatus(`job-${id}`)) === 'FAILED');
      for (const id of [queued, ofText]) expect((await call('jobs.retry', { id })).status).to.equal(404);
      expect((await call('jobs.retry', { id: failed })).body).to.include({ status: 'queued', workspaceId: null });
    });

    it('is done once when several ask at once, and never again', async () => {
      const workspace = await create();
      const answers = await Promise.all(Array.from({ length: 5 }, () => remove(workspace.id)));
      expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 404, 404, 404, 404]);
      expect((await remove(workspace.id)).body).to.include({ defined: true, code: 'NOT_FOUND', message: 'Workspace not found.' });
      expect((await entriesOf(workspace.id)).filter(({ action }) => action === 'workspace.delete')).to.have.length(1);
    });

    it('leaves nothing behind of uploads and jobs that begin at the same time', async () => {
      const workspace = await create();
      const { organizationId } = tenant;
      const upload = { workspaceId: workspace.id, name: 'a.txt', contentType: 'text/plain', size: 4 };
      const job = { kind: 'text.summarize', organizationId, workspaceId: workspace.id, text: 'One. Two.' };
      const begin = () =>
        Promise.all(Array.from({ length: 6 }, (_, i) => (i % 2 ? call('documents.createUpload', upload) : call('jobs.create', job))));
      const [first, removed, second] = await Promise.all([begin(), remove(workspace.id), begin()]);
      expect(removed.status).to.equal(200);
      const answers = [...first, ...second];
      expect(answers.filter(({ status }) => status !== 200 && status !== 404)).to.deep.equal([]);
      for (const { status, body } of answers) {
        if (status !== 200) continue;
        if (body.document) expect((await call('documents.get', { id: body.document.id })).status).to.equal(404);
        else expect((await call('jobs.get', { id: body.id })).body).to.deep.include({ status: 'failed', workspaceId: null });
      }
    });

    it('is refused, like a change, while the organization is being deleted', async () => {
      const own = await api.createTenant();
      await db.insertInto('organization_deletion').values({ organization_id: own.organizationId, requested_by: null }).execute();
      for (const [operation, more] of [
        ['workspaces.update', { name: 'X' }],
        ['workspaces.delete', {}],
      ] as const) {
        const refused = await call(operation, { id: own.workspaceId, ...more }, own.owner.token);
        expect(refused.body).to.include({ code: 'NOT_FOUND', message: 'This organization is being deleted.' });
      }
    });
  });
});
