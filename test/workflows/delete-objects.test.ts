import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
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
});
