import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { mainTaskQueue, signalUploadEnded, startUpload } from '../../contract/intents/definitions.ts';
import type { UploadInput } from '../../contract/intents/inputs.ts';
import { addToOutbox } from '../../db/outbox.ts';
import { inTransaction } from '../../db/transaction.ts';
import { eventsOf } from '../support/histories.ts';
import { nightly } from '../support/nightly.ts';
import { until } from '../support/processes.ts';
import { useApi } from '../support/use-api.ts';

describe('The workflow of an upload', () => {
  const { api, tenant } = useApi();

  const create = async (workspaceId = tenant.workspaceId): Promise<string> => {
    const body = { workspaceId, name: 'late.txt', contentType: 'text/plain', size: 4 };
    return (await api.request('POST', '/api/v1/documents', { token: tenant.owner.token, body })).body.document.id;
  };
  const ofDocument = (id: string) => api.temporal.client.workflow.getHandle(`upload-${id}`);
  /** Starts another run for a document, by hand. */
  const start = (documentId: string, startDelay: number) => {
    const input: UploadInput = { documentId, organizationId: tenant.organizationId, workspaceId: tenant.workspaceId };
    const options = { taskQueue: mainTaskQueue, workflowId: `short-${documentId}`, args: [input] };
    return api.temporal.client.workflow.start('upload', startDelay > 0 ? { ...options, startDelay } : options);
  };
  /** As if the upload had begun so long ago. */
  const age = (id: string, ms: number) =>
    api.database.db
      .updateTable('document')
      .set({ created_at: new Date(Date.now() - ms) })
      .where('id', '=', id)
      .execute();
  const dayMs = 24 * 3_600_000;
  const isThere = async (id: string) =>
    (await api.database.db.selectFrom('document').select('id').where('id', '=', id).execute()).length === 1;

  it('has no task before the upload ends, or a day is over', async () => {
    const id = await create();
    await until(async () => (await eventsOf(ofDocument(id))).length > 0);
    // Time in which a task would have been scheduled and done.
    await delay(500);
    expect(await eventsOf(ofDocument(id))).to.deep.equal(['workflowExecutionStarted']);
    const { raw } = await ofDocument(id).describe();
    const { startTime, executionTime } = raw.workflowExecutionInfo ?? {};
    expect(Number(executionTime?.seconds) - Number(startTime?.seconds)).to.equal(24 * 3600);
  });

  it('ends with one task as soon as the upload is complete', async () => {
    const { id } = await api.upload(tenant, { bytes: 'text' });
    await until(async () => (await eventsOf(ofDocument(id))).at(-1) === 'workflowExecutionCompleted');
    const events = await eventsOf(ofDocument(id));
    expect(events.slice(0, 2)).to.deep.equal(['workflowExecutionStarted', 'workflowExecutionSignaled']);
    expect(events.filter((type) => type === 'workflowTaskCompleted')).to.have.length(1);
    expect(await ofDocument(id).result()).to.deep.equal({ purged: false });
  });

  it('ends as soon as its document or its workspace is deleted', async () => {
    const { token } = tenant.owner;
    const body = { organizationId: tenant.organizationId, name: 'Doomed', slug: 'doomed' };
    const doomed = (await api.request('POST', '/api/v1/workspaces', { token, body })).body.id;
    const [deleted, left] = [await create(), await create(doomed)];
    await api.request('DELETE', `/api/v1/documents/${deleted}`, { token });
    await api.request('DELETE', `/api/v1/workspaces/${doomed}`, { token });
    for (const id of [deleted, left]) expect(await ofDocument(id).result()).to.deep.equal({ purged: false });
  });

  nightly('leaves no second run if the signal that it ended comes before the start', async () => {
    const { db } = api.database;
    const documentId = crypto.randomUUID();
    const ids = { documentId, organizationId: tenant.organizationId, workspaceId: tenant.workspaceId };
    const dispatched = async () => (await db.selectFrom('outbox').selectAll().execute()).length === 0;
    await inTransaction(db, async (trx) => addToOutbox(trx, signalUploadEnded(ids)));
    await until(dispatched);
    // A start while this run is open would only find it.
    await ofDocument(documentId).result();
    await inTransaction(db, async (trx) => addToOutbox(trx, startUpload(ids)));
    await until(dispatched);
    // The last run, which is the only one.
    expect((await ofDocument(documentId).describe()).status.name).to.equal('COMPLETED');
    expect(await eventsOf(ofDocument(documentId))).to.include('workflowExecutionSignaled');
  });

  nightly('removes an upload that is not complete a day after it began', async () => {
    const id = await create();
    await age(id, dayMs - 500);
    expect(await (await start(id, 1)).result()).to.deep.equal({ purged: true });
    expect(await isThere(id)).to.equal(false);
  });

  it('removes nothing if the signal came during the delay', async () => {
    const id = await create();
    await age(id, dayMs);
    const handle = await start(id, 5_000);
    await handle.signal('uploadEnded');
    expect(await handle.result()).to.deep.equal({ purged: false });
    expect(await isThere(id)).to.equal(true);
  });

  nightly('waits for the rest of the day, as the row says, if it is started early or by hand', async () => {
    const id = await create();
    const handle = await start(id, 0);
    await until(async () => (await eventsOf(handle)).includes('timerStarted'));
    expect(await isThere(id)).to.equal(true);
    await handle.signal('uploadEnded');
    expect(await handle.result()).to.deep.equal({ purged: false });
  });
});
