import { expect } from 'chai';
import type { Kysely } from 'kysely';
import type { Database } from '../../db/schema.ts';
import { createJob } from '../support/jobs.ts';
import { untilWaiting } from '../support/locks.ts';
import { useApi } from '../support/use-api.ts';

describe('The deletion of what many rows refer to', () => {
  const { api, tenant } = useApi({ env: { WORKER_ENABLED: 'false' }, check: 'at the end' });

  /** Whether a deletion ends while somebody works on a row that refers to what goes. */
  const race = (deletion: Promise<unknown>, db: Kysely<Database>) =>
    Promise.race([deletion.then(() => 'deleted'), untilWaiting(db, 1).then(() => 'waits')]);

  it('waits for none of the jobs of a document, which then show none', async () => {
    const { db } = api.database;
    const { token } = tenant.owner;
    const { id: documentId } = await api.upload(tenant, { bytes: 'A text.' });
    const { id } = await createJob(api, tenant, { kind: 'document.extract', documentId });
    await db.transaction().execute(async (trx) => {
      await trx.selectFrom('job').select('id').where('id', '=', id).forUpdate().execute();
      expect(await race(api.request('DELETE', `/api/v1/documents/${documentId}`, { token }), db)).to.equal('deleted');
    });
    const { body } = await api.request('GET', `/api/v1/jobs/${id}`, { token });
    expect(body).to.include({ documentId: null, workspaceId: tenant.workspaceId, createdBy: tenant.owner.id });
  });

  it('waits for none of the documents and jobs of a user, which then show nobody', async () => {
    const { db } = api.database;
    const { token } = tenant.owner;
    const [member, admin] = [await api.signUp('Member'), await api.signUp('Root')];
    await api.addMember(tenant.organizationId, member, 'member');
    await api.makePlatformAdmin(admin);
    const place = { owner: member, workspaceId: tenant.workspaceId };
    const { id: documentId } = await api.upload(place, { bytes: 'A text.' });
    const { id } = await createJob(api, { ...tenant, owner: member }, { kind: 'document.extract', documentId });
    const read = async (path: string) => (await api.request('GET', `/api/v1/${path}`, { token })).body;
    expect(await read(`documents/${documentId}`)).to.include({ uploadedBy: member.id });
    await db.transaction().execute(async (trx) => {
      await trx.selectFrom('document').select('id').where('id', '=', documentId).forUpdate().execute();
      await trx.selectFrom('job').select('id').where('id', '=', id).forUpdate().execute();
      const removal = api.request('POST', '/api/auth/admin/remove-user', { token: admin.token, body: { userId: member.id } });
      expect(await race(removal, db)).to.equal('deleted');
      expect((await removal).status).to.equal(200);
    });
    expect(await read(`documents/${documentId}`)).to.include({ uploadedBy: null });
    expect(await read(`jobs/${id}`)).to.include({ createdBy: null, documentId });
  });
});
