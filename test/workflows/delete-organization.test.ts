import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Tenant, TestUser } from '../support/api.ts';
import { until } from '../support/processes.ts';
import { useApi } from '../support/use-api.ts';

describe('admin.organizations.delete', () => {
  const { api } = useApi();
  let admin: TestUser;

  before(async () => {
    admin = await api.signUp('Root');
    await api.makePlatformAdmin(admin);
  });

  const remove = (tenant: Tenant, confirmSlug = tenant.slug) =>
    api.request('DELETE', `/api/v1/admin/organizations/${tenant.organizationId}`, { token: admin.token, body: { confirmSlug } });

  const objectsOf = (tenant: Tenant) => {
    const directory = join(api.stack.dataDir, 'objects', tenant.organizationId);
    return existsSync(directory) ? readdirSync(directory) : [];
  };

  it('deletes objects, then everything the organization owns, and keeps its audit log', async () => {
    const { db } = api.database;
    const tenant = await api.createTenant();
    const other = await api.createTenant();
    for (let n = 0; n < 3; n++) await api.upload(tenant, { bytes: `document ${n}` });
    const kept = await api.upload(other, { bytes: 'another tenant' });
    const { id: documentId } = await api.upload(tenant, { bytes: 'One sentence. Another sentence.' });
    const job = await api.request('POST', '/api/v1/jobs', { token: tenant.owner.token, body: { kind: 'document.index', documentId } });
    await api.jobIn(tenant.owner.token, job.body.id, ['succeeded']);
    expect(objectsOf(tenant)).to.have.lengthOf(4);

    const answer = await remove(tenant);

    expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
    expect(answer.body).to.deep.equal({ organizationId: tenant.organizationId, objectsDeleted: 4, objectsFailed: 0 });
    expect(objectsOf(tenant)).to.deep.equal([]);
    expect(objectsOf(other)).to.deep.equal([kept.id]);
    for (const table of ['workspace', 'document', 'chunk', 'job', 'credit_entry', 'credit_month'] as const) {
      const rows = await db.selectFrom(table).select('organization_id').where('organization_id', '=', tenant.organizationId).execute();
      expect(rows, table).to.deep.equal([]);
    }
    const audit = await db.selectFrom('audit_entry').selectAll().where('organization_id', '=', tenant.organizationId).execute();
    const deletions = audit.filter(({ action }) => action === 'organization.delete');
    expect(deletions).to.have.lengthOf(1);
    expect(deletions[0]?.actor_id).to.equal(admin.id);
    expect((await remove(tenant)).status).to.equal(404);
  });

  it('refuses another slug, an unknown organization and a live subscription', async () => {
    const { db } = api.database;
    const tenant = await api.createTenant();
    expect((await remove(tenant, 'another-slug')).body.code).to.equal('NOT_FOUND');
    expect((await remove({ ...tenant, organizationId: 'absent' })).body.code).to.equal('NOT_FOUND');
    const subscription = { id: 's1', plan: 'pro', referenceId: tenant.organizationId, status: 'active' };
    await db
      .insertInto('subscription')
      .values(subscription as never)
      .execute();
    expect((await remove(tenant)).body).to.include({ code: 'PRECONDITION_FAILED', status: 412, defined: true });
    await db.updateTable('subscription').set({ status: 'canceled' }).where('id', '=', 's1').execute();
    expect((await remove(tenant)).status).to.equal(200);
  });

  it('meets the same run when it is asked twice at once, and when the client hung up', async () => {
    const tenant = await api.createTenant();
    for (let n = 0; n < 5; n++) await api.upload(tenant, { bytes: `document ${n}` });
    const hangUp = new AbortController();
    const gone = api
      .request('DELETE', `/api/v1/admin/organizations/${tenant.organizationId}`, {
        token: admin.token,
        body: { confirmSlug: tenant.slug },
        signal: hangUp.signal,
      })
      .catch(() => undefined);
    const [first, second] = await Promise.all([remove(tenant), remove(tenant)]);
    hangUp.abort();
    await gone;
    const answers = [first, second].filter(({ status }) => status === 200).map(({ body }) => body.objectsDeleted);
    expect(answers).to.include(5);
    const runs = api.temporal.client.workflow.list({ query: `WorkflowId = 'delete-organization-${tenant.organizationId}'` });
    await until(async () => (await Array.fromAsync(runs)).length === 1);
  });

  it('refuses writes and ends jobs while it goes on', async () => {
    const { db } = api.database;
    const tenant = await api.createTenant();
    const { token } = tenant.owner;
    await db.insertInto('organization_deletion').values({ organization_id: tenant.organizationId, requested_by: null }).execute();
    const body = { organizationId: tenant.organizationId, kind: 'text.embed', texts: ['a'] };
    expect((await api.request('POST', '/api/v1/jobs', { token, body })).body.code).to.equal('NOT_FOUND');
    const upload = { workspaceId: tenant.workspaceId, name: 'a.txt', contentType: 'text/plain', size: 1 };
    expect((await api.request('POST', '/api/v1/documents', { token, body: upload })).body.code).to.equal('NOT_FOUND');
    expect((await remove(tenant)).status).to.equal(200);
  });
});
