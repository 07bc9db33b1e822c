import { expect } from 'chai';
import { sql } from 'kysely';
import { inTransaction } from '../../db/transaction.ts';
import { systemActor } from '../../domain/audit.ts';
import { setHold } from '../../domain/holds/change-hold.ts';
import { lockWorkspace } from '../../domain/locks.ts';
import { requestOrganizationDeletion } from '../../domain/organizations/request-deletion.ts';
import type { TestUser } from '../support/api.ts';
import { createKey } from '../support/api-keys.ts';
import { until } from '../support/processes.ts';
import { useApi } from '../support/use-api.ts';

const reason = 'The case of the broken dome.';

describe('A legal hold', () => {
  const used = useApi({ tenant: 'of each test' });
  const { api } = used;
  let admin: TestUser;
  before(async () => {
    admin = await api.signUp('Admin');
    await api.makePlatformAdmin(admin);
  });

  const as = (token: string, method: string, path: string, body?: object) =>
    api.request(method, `/api/v1${path}`, { token, ...(body && { body }) });
  const asOwner = (method: string, path: string, body?: object) => as(used.tenant.owner.token, method, path, body);
  const hold = (body: object = {}) => asOwner('PUT', `/organizations/${used.tenant.organizationId}/hold`, { reason, ...body });
  const lift = (query = '') => asOwner('DELETE', `/organizations/${used.tenant.organizationId}/hold${query}`);
  const deleteOrganization = (path: string, token: string) =>
    as(token, 'DELETE', `${path}/${used.tenant.organizationId}`, { confirmSlug: used.tenant.slug });
  const upload = () => api.upload(used.tenant, { bytes: 'A text.' });

  function expectHeld({ status, body }: { status: number; body: any }) {
    expect(status, JSON.stringify(body)).to.equal(409);
    expect(body).to.deep.include({ code: 'LEGAL_HOLD', message: `A legal hold keeps this: ${reason}` });
    expect(body.data.reason).to.equal(reason);
  }

  it('keeps everything of an organization, from everybody, until its owner lifts it', async () => {
    const { organizationId, workspaceId, owner } = used.tenant;
    const { id } = await upload();
    expect((await hold()).body).to.include({ organizationId, workspaceId: null, reason });
    expect((await asOwner('GET', `/organizations/${organizationId}/holds`)).body).to.have.length(1);
    const key = await createKey(api, used.tenant);
    expectHeld(await asOwner('DELETE', `/documents/${id}`));
    expectHeld(await as(key.token, 'DELETE', `/documents/${id}`));
    expectHeld(await asOwner('DELETE', `/workspaces/${workspaceId}`));
    expectHeld(await deleteOrganization('/organizations', owner.token));
    expectHeld(await deleteOrganization('/admin/organizations', admin.token));
    const { db } = api.database;
    const byHand = db.deleteFrom('organization').where('id', '=', organizationId).execute();
    expect(await byHand.catch((error) => error.message)).to.equal('LEGAL_HOLD');
    expect((await asOwner('GET', `/documents/${id}`)).status).to.equal(200);

    expect((await lift()).status).to.equal(200);
    expect((await lift()).status).to.equal(404);
    expect((await asOwner('DELETE', `/documents/${id}`)).status).to.equal(200);
    const { entries } = (await asOwner('GET', `/organizations/${organizationId}/audit-log?targetId=${organizationId}`)).body;
    expect(entries.slice(0, 2).map(({ action, actorId, metadata }: any) => [action, actorId, metadata])).to.deep.equal([
      ['hold.lift', owner.id, { reason }],
      ['hold.set', owner.id, { reason }],
    ]);
    expect((await deleteOrganization('/organizations', owner.token)).status).to.equal(200);
  });

  it('of a workspace keeps that one, and its organization', async () => {
    const { organizationId, workspaceId, owner } = used.tenant;
    const { id } = await upload();
    const { body: other } = await asOwner('POST', '/workspaces', { organizationId, name: 'Other', slug: 'other' });
    expect((await hold({ workspaceId })).status).to.equal(200);
    expectHeld(await asOwner('DELETE', `/documents/${id}`));
    expectHeld(await asOwner('DELETE', `/workspaces/${workspaceId}`));
    expectHeld(await deleteOrganization('/organizations', owner.token));
    expect((await asOwner('DELETE', `/workspaces/${other.id}`)).status).to.equal(200);
    expect((await lift()).status, 'a hold of the whole organization').to.equal(404);
    expect((await lift(`?workspaceId=${workspaceId}`)).status).to.equal(200);
    expect((await asOwner('DELETE', `/workspaces/${workspaceId}`)).status).to.equal(200);
  });

  it('keeps what a document is called and labeled with, also before its upload is complete', async () => {
    const { workspaceId } = used.tenant;
    const { id } = await upload();
    const recorded = { name: 'a.txt', contentType: 'text/plain', size: 1 };
    const { body: pending } = await asOwner('POST', '/documents', { workspaceId, ...recorded });
    const { body: before } = await asOwner('GET', `/documents/${id}`);
    expect((await hold({ workspaceId })).status).to.equal(200);
    for (const change of [{ name: 'b.txt' }, { tags: ['b'] }, { metadata: { b: 1 } }, { charset: 'gbk' }])
      for (const documentId of [id, pending.document.id]) expectHeld(await asOwner('PATCH', `/documents/${documentId}`, change));
    expect((await asOwner('PATCH', `/documents/${id}`, { name: before.name })).status, 'no change').to.equal(200);
    expect((await asOwner('GET', `/documents/${id}`)).body).to.deep.equal(before);
    expect((await lift(`?workspaceId=${workspaceId}`)).status).to.equal(200);
    expect((await asOwner('PATCH', `/documents/${id}`, { name: 'b.txt' })).body.name).to.equal('b.txt');
  });

  it('has a reason that can be read', async () => {
    for (const blank of ['', ' ', '\u00a0\u200b', '\u3000']) {
      const { status, body } = await hold({ reason: blank });
      expect(status, JSON.stringify(body)).to.equal(400);
      expect(body.data.issues[0].path).to.deep.equal(['reason']);
    }
  });

  it('is not for admins, members and keys', async () => {
    const { organizationId } = used.tenant;
    const member = await api.signUp();
    await api.addMember(organizationId, member, 'admin');
    const key = await createKey(api, used.tenant);
    for (const { token } of [member, key]) {
      expect((await as(token, 'PUT', `/organizations/${organizationId}/hold`, { reason })).status).to.equal(403);
      expect((await as(token, 'DELETE', `/organizations/${organizationId}/hold`)).status).to.equal(403);
    }
  });

  it('waits for what is being deleted, and once it is set nothing is', async () => {
    const { organizationId, workspaceId } = used.tenant;
    const { db } = api.database;
    const { id } = await upload();
    let [isSet, isDeleting, isLocked] = [false, true, false];
    const deleting = inTransaction(db, async (trx) => {
      await lockWorkspace(trx, workspaceId, 'change');
      isLocked = true;
      await until(async () => !isDeleting);
    });
    await until(() => isLocked);
    const setting = inTransaction(db, (trx) => setHold(trx, systemActor, { organizationId, reason })).then(() => {
      isSet = true;
    });
    const waiting = sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    await until(async () => (await waiting.execute(db)).rows.length > 0);
    expect(isSet).to.equal(false);
    isDeleting = false;
    await Promise.all([deleting, setting]);
    expectHeld(await asOwner('DELETE', `/documents/${id}`));
  });

  it('is not set in an organization whose deletion was requested while it waited', async () => {
    const { organizationId, slug } = used.tenant;
    const { db } = api.database;
    const { id } = await upload();
    let setting: Promise<unknown> = Promise.resolve();
    await inTransaction(db, async (trx) => {
      await requestOrganizationDeletion(trx, systemActor, { organizationId, confirmSlug: slug, billingEnabled: false });
      setting = inTransaction(db, (other) => setHold(other, systemActor, { organizationId, reason })).catch(({ message }) => message);
      const waiting = sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      await until(async () => (await waiting.execute(db)).rows.length > 0);
    });
    expect(await setting).to.equal('This organization is being deleted.');
    await until(async () => (await sql`select from organization where id = ${organizationId}`.execute(db)).rows.length === 0);
    expect((await asOwner('GET', `/documents/${id}`)).status).to.equal(404);
  });
});
