import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { expect } from 'chai';
import { sql } from 'kysely';
import { until } from '../support/processes.ts';
import { useApi } from '../support/use-api.ts';

describe('deleteObjects', () => {
  const { api, tenant } = useApi();

  const remove = (id: string) => api.request('DELETE', `/api/v1/documents/${id}`, { token: tenant.owner.token });
  const handle = () => api.temporal.client.workflow.getHandle(`delete-objects-${tenant.organizationId}`);
  const pathOf = (id: string) => join(api.stack.dataDir, 'objects', tenant.organizationId, id);
  const ended = () =>
    handle()
      .describe()
      .then(({ status }) => status.name === 'COMPLETED')
      .catch(() => false);

  it('deletes the object of a deleted document and ends', async () => {
    const { id } = await api.upload(tenant, { bytes: 'text' });
    expect(existsSync(pathOf(id))).to.equal(true);
    expect((await remove(id)).status).to.equal(200);
    await until(ended);
    expect(existsSync(pathOf(id))).to.equal(false);
    expect(await handle().result()).to.deep.equal({ deleted: 1 });
    expect(await api.database.db.selectFrom('object_to_delete').selectAll().execute()).to.deep.equal([]);
  });

  it('tries again what the store refuses, tells the operator, and never blocks the answer', async () => {
    const { id } = await api.upload(tenant, { bytes: 'text' });
    // A directory in the object's place cannot be deleted as a file.
    rmSync(pathOf(id));
    mkdirSync(pathOf(id));
    writeFileSync(join(pathOf(id), 'in the way'), '');
    chmodSync(pathOf(id), 0o700);
    expect((await remove(id)).status).to.equal(200);
    await until(async () => ((await handle().query('progress')) as { failing: number }).failing === 1);
    const row = await api.database.db.selectFrom('object_to_delete').selectAll().executeTakeFirstOrThrow();
    expect(row.attempts).to.be.at.least(1);
    expect(row.last_error).to.be.a('string');
    rmSync(pathOf(id), { recursive: true });
    await until(ended);
  });

  it('is started by the sweep if it is gone and an object is a minute late', async () => {
    const { db } = api.database;
    const key = `${tenant.organizationId}/left-behind`;
    mkdirSync(join(api.stack.dataDir, 'objects', tenant.organizationId), { recursive: true });
    writeFileSync(pathOf('left-behind'), 'text');
    const late = new Date(Date.now() - 2 * 60_000);
    await db.insertInto('object_to_delete').values({ key, organization_id: tenant.organizationId, next_attempt_at: late }).execute();
    const options = { taskQueue: 'sheaf', workflowId: 'sweep-jobs-late-object', args: [] };
    await api.temporal.client.workflow.execute('sweepJobs', options);
    await until(async () => (await db.selectFrom('object_to_delete').select('key').execute()).length === 0);
    expect(existsSync(pathOf('left-behind'))).to.equal(false);
  });

  describe('deletes what an upload stores after its document was deleted', () => {
    const bytes = Buffer.alloc(100_000, 'a');
    const late = () => api.database.db.selectFrom('late_upload').select(['key', 'organization_id', 'due_at']).execute();
    const create = async (headers = {}) => {
      const body = { workspaceId: tenant.workspaceId, name: 'late.txt', contentType: 'text/plain', size: bytes.length };
      return (await api.request('POST', '/api/v1/documents', { token: tenant.owner.token, body, headers })).body;
    };
    const endLinks = async () => {
      await api.database.db.updateTable('late_upload').set({ due_at: new Date() }).execute();
      const options = { taskQueue: 'sheaf', workflowId: 'sweep-jobs-late-upload', args: [] };
      await api.temporal.client.workflow.execute('sweepJobs', options);
    };

    it('once no link to it works any more', async () => {
      const { document, upload } = await create();
      const sent = request(upload.url, { method: 'PUT', headers: { ...upload.headers, 'content-length': bytes.length } });
      sent.write(bytes.subarray(1));
      await until(() => readdirSync(join(api.stack.dataDir, 'objects', '.incoming')).length > 0);
      expect((await remove(document.id)).status).to.equal(200);
      await until(async () => (await api.database.db.selectFrom('object_to_delete').select('key').execute()).length === 0);
      sent.end(bytes.subarray(0, 1));
      const [response] = await once(sent, 'response');
      expect([response.resume().statusCode, existsSync(pathOf(document.id))]).to.deep.equal([404, false]);
      // As a bucket would, which asks nobody whether there is a document, or a process that dies before it asks.
      writeFileSync(pathOf(document.id), bytes);
      const row = (await late()).find(({ key }) => key === `${tenant.organizationId}/${document.id}`);
      expect(Number(row?.due_at)).to.be.within(Date.now() + 119 * 60_000, Date.now() + 121 * 60_000);
      await endLinks();
      await until(() => !existsSync(pathOf(document.id)));
      expect(await late()).to.deep.equal([]);
    });

    it('also if the link was signed after the deletion, for a request that was repeated', async () => {
      const headers = { 'Idempotency-Key': 'late' };
      const { document } = await create(headers);
      await remove(document.id);
      await endLinks();
      expect(await late()).to.deep.equal([]);
      expect((await create(headers)).document.id).to.equal(document.id);
      expect((await late()).map(({ key }) => key)).to.deep.equal([`${tenant.organizationId}/${document.id}`]);
    });

    it('and looks for nothing where links have long ended', async () => {
      await endLinks();
      const { id } = await api.upload(tenant, { bytes: 'text' });
      await sql`update document set created_at = now() - interval '3 days' where id = ${id}`.execute(api.database.db);
      await remove(id);
      expect(await late()).to.deep.equal([]);
    });
  });
});
