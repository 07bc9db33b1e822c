import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { sql } from 'kysely';
import { applyRetention } from '../../domain/workspaces/apply-retention.ts';
import { createKey } from '../support/api-keys.ts';
import { until } from '../support/processes.ts';
import { expectOk } from '../support/requests.ts';
import { useApi } from '../support/use-api.ts';

describe('What a workspace keeps for a number of days', () => {
  const used = useApi({ tenant: 'of each test', check: 'after each test' });
  const { api } = used;

  const as = (token: string, method: string, path: string, body?: object) =>
    api.request(method, `/api/v1${path}`, { token, ...(body && { body }) });
  const asOwner = (method: string, path: string, body?: object) => as(used.tenant.owner.token, method, path, body);
  const keep = (retention: object, token = used.tenant.owner.token) =>
    as(token, 'PATCH', `/workspaces/${used.tenant.workspaceId}`, { retention });
  const due = async (query = '') => (await expectOk(asOwner('GET', `/workspaces/${used.tenant.workspaceId}/due${query}`))).body;
  const none = { count: 0, oldest: null, ids: [] };
  const housekeeping = () => api.temporal.client.workflow.execute('housekeeping', options());
  const options = () => ({ taskQueue: 'sheaf', workflowId: `housekeeping-${Date.now()}`, args: [] });
  const apply = (signal = new AbortController().signal, onProgress = () => {}) =>
    applyRetention(api.database.db, { before: undefined, onProgress, signal });

  /** A document that was made searchable, and its job. */
  async function indexed() {
    const { owner } = used.tenant;
    const { id } = await api.upload(used.tenant, { bytes: 'The dome opens at dusk.' });
    const { body: job } = await expectOk(asOwner('POST', '/jobs', { kind: 'document.index', documentId: id }));
    await api.jobIn(owner.token, job.id, ['succeeded']);
    return { id, jobId: job.id as string };
  }

  /** Makes rows older by so many days and a minute. */
  const age = (table: 'document' | 'job', columns: string[], ids: string[], days: number) =>
    sql`update ${sql.table(table)} set ${sql.join(columns.map((name) => sql`${sql.ref(name)} = ${sql.ref(name)} - make_interval(days => ${days}, mins => 1)`))}
      where id = any(${ids})`.execute(api.database.db);
  const entries = async (action: string) => {
    const { body } = await asOwner('GET', `/organizations/${used.tenant.organizationId}/audit-log?limit=100`);
    return body.entries.filter((entry: { action: string }) => entry.action === action);
  };

  it('is told by who may delete the workspace, and has no end otherwise', async () => {
    const { organizationId, workspaceId, owner } = used.tenant;
    const [admin, member] = [await api.signUp(), await api.signUp()];
    await api.addMember(organizationId, admin, 'admin');
    await api.addMember(organizationId, member, 'member');
    const key = await createKey(api, used.tenant, { permissions: ['workspace:read', 'workspace:update'] });
    expect((await asOwner('GET', `/workspaces?organizationId=${organizationId}`)).body[0].retention).to.deep.equal({
      ...{ documents: null, texts: null, jobs: null },
    });
    for (const { token } of [member, key]) expect((await keep({ jobs: 7 }, token)).status).to.equal(403);
    expect((await keep({ documents: 0 })).status).to.equal(400);
    expect((await expectOk(keep({ documents: 90, jobs: 7 }, admin.token))).body.retention).to.deep.equal({
      documents: 90,
      texts: null,
      jobs: 7,
    });
    expect((await expectOk(keep({ documents: null }))).body.retention).to.deep.equal({ documents: null, texts: null, jobs: 7 });
    const [last] = await entries('workspace.update');
    await expectOk(asOwner('PATCH', `/workspaces/${workspaceId}`, { name: 'Renamed', retention: { jobs: 7 } }));
    expect((await entries('workspace.update'))[0].metadata).to.deep.equal({ name: { from: 'Main', to: 'Renamed' } });
    expect(last).to.deep.include({ actorId: owner.id, targetId: workspaceId });
    expect(last.metadata).to.deep.equal({ retention: { from: { jobs: 7, documents: 90 }, to: { jobs: 7 } } });
  });

  it('is deleted by the housekeeping of the day, as the dry run has said', async () => {
    const { organizationId, workspaceId, owner } = used.tenant;
    const old = await indexed();
    const forgotten = await indexed();
    const young = await indexed();
    const { body: other } = await expectOk(asOwner('POST', '/workspaces', { organizationId, name: 'Other', slug: 'other' }));
    const elsewhere = await api.upload({ owner, workspaceId: other.id }, { bytes: 'Kept.' });
    await age('document', ['created_at', 'extracted_at', 'indexed_at'], [old.id, elsewhere.id], 90);
    await age('document', ['created_at', 'extracted_at', 'indexed_at'], [forgotten.id], 30);
    await age('job', ['created_at', 'finished_at'], [old.jobId, forgotten.jobId], 7);
    // Old, but it has not ended.
    const waiting = 'waiting';
    await sql`insert into job (id, organization_id, workspace_id, kind, status, input, max_attempts, credits, next_attempt_at, created_at, credit_month)
      select ${waiting}, organization_id, workspace_id, 'text.embed', 'canceled', '{"texts":["a"]}', 4, 0, null, now() - interval '60 days', credit_month
      from job where id = ${young.jobId}`.execute(api.database.db);
    expect(await due()).to.deep.equal({ documents: none, texts: none, jobs: none });
    expect((await due('?documents=90&texts=30')).texts).to.include({ count: 2 });
    await expectOk(keep({ documents: 90, texts: 30, jobs: 7 }));
    const said = await due();
    expect(said.documents).to.deep.include({ count: 1, ids: [old.id] });
    expect(new Date(said.documents.oldest).getTime()).to.be.below(Date.now() - 90 * 86_400_000);
    expect(said.texts.ids).to.deep.equal([old.id, forgotten.id]);
    expect(said.jobs.ids).to.have.members([old.jobId, forgotten.jobId]);

    expect(await housekeeping()).to.include({ workspaceRetention: 4 });

    expect((await asOwner('GET', `/documents/${old.id}`)).status).to.equal(404);
    await until(() => !existsSync(join(api.stack.dataDir, 'objects', organizationId, old.id)));
    expect((await asOwner('GET', `/documents/${forgotten.id}/text`)).body).to.deep.include({ text: null, extracted: null });
    expect((await asOwner('GET', `/documents/${forgotten.id}`)).body).to.deep.include({ status: 'ready', indexedAt: null });
    const search = { query: 'dome' };
    const found = (await expectOk(asOwner('POST', `/workspaces/${workspaceId}/documents/search`, search))).body;
    expect(found.results.map(({ documentId }: { documentId: string }) => documentId)).to.deep.equal([young.id]);
    const jobs = await api.database.db.selectFrom('job').select('id').where('workspace_id', '=', workspaceId).execute();
    expect(jobs.map(({ id }) => id)).to.have.members([young.jobId, waiting]);
    expect((await asOwner('GET', `/workspaces/main?organizationId=${organizationId}`)).body.storage.usedBytes).to.equal(2 * 23);
    expect((await asOwner('GET', `/documents/${elsewhere.id}`)).status).to.equal(200);
    expect((await asOwner('GET', `/documents/${forgotten.id}/download-url`)).status).to.equal(200);
    expect((await entries('document.delete'))[0]).to.deep.include({ actorId: null, targetId: old.id });
    expect((await entries('document.delete'))[0].metadata).to.include({ retentionDays: 90 });
    expect((await entries('document.forgetText'))[0].metadata).to.include({ retentionDays: 30, workspaceId });
    expect((await entries('workspace.deleteJobs')).map(({ metadata }: any) => metadata)).to.deep.equal([{ jobs: 2, retentionDays: 7 }]);
    await api.database.db.deleteFrom('job').where('id', '=', waiting).execute();
    // What is extracted again is kept for the same time again.
    const { body: again } = await expectOk(asOwner('POST', '/jobs', { kind: 'document.index', documentId: forgotten.id }));
    await api.jobIn(owner.token, again.id, ['succeeded']);
    expect(await housekeeping()).to.include({ workspaceRetention: 0 });
    expect((await asOwner('GET', `/documents/${forgotten.id}/text`)).body.text).to.include('dusk');
    // The job that has made it counts as done no longer than it is there.
    await age('document', ['extracted_at'], [forgotten.id], 30);
    expect(await apply()).to.equal(1);
    const once = { kind: 'document.index', documentId: forgotten.id, once: true };
    expect((await expectOk(asOwner('POST', '/jobs', once))).body.id).not.to.equal(again.id);
  });

  it('stays while it is held', async () => {
    const { organizationId } = used.tenant;
    const { id, jobId } = await indexed();
    await age('document', ['created_at', 'extracted_at', 'indexed_at'], [id], 2);
    await age('job', ['created_at', 'finished_at'], [jobId], 2);
    await expectOk(keep({ documents: 1, texts: 1, jobs: 1 }));
    const reason = 'The case of the broken dome.';
    await expectOk(asOwner('PUT', `/organizations/${organizationId}/hold`, { reason }));
    expect((await due()).hold).to.include({ reason });
    expect(await apply()).to.equal(0);
    expect((await asOwner('GET', `/documents/${id}/text`)).body.text).to.include('dusk');
    await expectOk(asOwner('DELETE', `/organizations/${organizationId}/hold`));
    expect(await due()).not.to.have.property('hold');
    // The document takes its text with it.
    expect(await apply()).to.equal(2);
  });

  it('goes once, in parts, however often the housekeeping is cut off or runs twice at once', async () => {
    const ids: string[] = [];
    for (let n = 0; n < 12; n++) ids.push((await api.upload(used.tenant, { bytes: 'old' })).id);
    await age('document', ['created_at'], ids.slice(0, 11), 2);
    await expectOk(keep({ documents: 1 }));
    const cut = new AbortController();
    let steps = 0;
    const first = apply(cut.signal, () => {
      steps++;
      if (steps === 3) cut.abort(new Error('cut off'));
    });
    expect(await first.catch((error) => error.message)).to.equal('cut off');
    expect((await due()).documents.count).to.equal(8);
    const both = await Promise.all([apply(), apply()]);
    expect(both[0] + both[1]).to.equal(8);
    expect((await entries('document.delete')).map(({ targetId }: any) => targetId)).to.have.members(ids.slice(0, 11));
    const { storage } = (await asOwner('GET', `/workspaces/main?organizationId=${used.tenant.organizationId}`)).body;
    expect(storage.usedBytes).to.equal(3);
  });
});
