import { appendFileSync, rmSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { WorkflowFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { expect } from 'chai';
import { amountsOf, createJob, historyOf, insertJobOnly } from '../support/jobs.ts';
import { useApi } from '../support/use-api.ts';

describe('A job that can never succeed', () => {
  // The real AI service: what is final is for it to say.
  const { api, tenant } = useApi({ check: 'after each test' });

  /** Fails at once: one attempt, a refund, the reason for the tenant and the same in Temporal. */
  async function expectFinal(id: string, code: string, message: RegExp): Promise<any> {
    const failed = await api.jobIn(tenant.owner.token, id, ['failed', 'succeeded']);
    expect(failed).to.include({ status: 'failed', attempts: 1, nextAttemptAt: null, result: null });
    expect(failed.error.code).to.equal(code);
    expect(failed.error.message).to.match(message);
    expect(JSON.stringify(failed.error)).not.to.match(/[/\\]|127\.0\.0\.1|localhost|Error|select |\bat /);
    expect(await amountsOf(api, id)).to.deep.equal([failed.credits, -failed.credits]);

    const handle = api.temporal.client.workflow.getHandle(`job-${id}`);
    const thrown = await handle.result().then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(thrown).to.be.instanceOf(WorkflowFailedError);
    const { cause } = thrown as WorkflowFailedError;
    expect(cause).to.be.instanceOf(ApplicationFailure);
    expect(cause).to.include({ type: code, message: failed.error.message });
    const { status, searchAttributes } = await handle.describe();
    expect(status.name).to.equal('FAILED');
    expect(searchAttributes.JobStatus).to.deep.equal(['failed']);
    expect((await historyOf(api, id)).filter(({ type }) => type === 'TimerStarted')).to.deep.equal([]);
    return failed;
  }

  it("fails when the document's file is gone", async () => {
    const { id: documentId } = await api.upload(tenant, { bytes: 'Some text.' });
    rmSync(join(api.stack.dataDir, 'objects', tenant.organizationId, documentId));
    const { id } = await createJob(api, tenant, { kind: 'document.summarize', documentId });
    await expectFinal(id, 'document_missing', /no longer exists/);
    const lines = api.stack.readLog('api').split('\n');
    const told = lines.filter((line) => line.includes('"the store has no object of a document"') && line.includes(documentId));
    expect(told).to.have.length(1);
  });

  it("says that the store is at fault, and not the AI service, when the document's file has another length", async () => {
    const changes = [
      (path: string) => appendFileSync(path, 'More.'),
      (path: string) => truncateSync(path, 4),
      (path: string) => truncateSync(path),
    ];
    for (const change of changes) {
      const { id: documentId } = await api.upload(tenant, { bytes: 'Some text.' });
      change(join(api.stack.dataDir, 'objects', tenant.organizationId, documentId));
      const { id } = await createJob(api, tenant, { kind: 'document.extract', documentId, maxAttempts: 1 });
      const { error } = await api.jobIn(tenant.owner.token, id, ['failed', 'succeeded']);
      expect(error).to.deep.equal({ code: 'store_unavailable', message: 'The store of documents is not available just now.' });
      expect(api.stack.readLog('api')).to.match(new RegExp(`${documentId} [^"]* bytes instead of 10`));
    }
  });

  it('fails when its document was deleted before a worker began, and cannot be retried', async () => {
    const { token } = tenant.owner;
    const { id: documentId } = await api.upload(tenant, { bytes: 'Some text.' });
    // Nobody dispatches its intent before the relay does, some seconds later.
    const { id } = (await insertJobOnly(api, tenant, { kind: 'document.extract', documentId })).job;
    expect((await api.request('DELETE', `/api/v1/documents/${documentId}`, { token })).status).to.equal(200);
    const failed = await expectFinal(id, 'document_missing', /no longer exists/);
    expect(failed).to.include({ documentId: null });
    expect(failed.input.documentId).to.equal(documentId);
    expect((await api.request('POST', `/api/v1/jobs/${id}/retry`, { token })).body.code).to.equal('NOT_FOUND');
  });

  it('fails for an image that cannot be read', async () => {
    const { id: documentId } = await api.upload(tenant, { contentType: 'image/png', bytes: 'no image' });
    const { id } = await createJob(api, tenant, { kind: 'document.extract', documentId });
    await expectFinal(id, 'unreadable_image', /image/);
  });

  it('is retried as a new job, charged again, while the original stays failed', async () => {
    const { token } = tenant.owner;
    const { id: documentId } = await api.upload(tenant, { contentType: 'application/pdf', bytes: 'this is no PDF' });
    const { id } = await createJob(api, tenant, { kind: 'document.index', documentId });
    await expectFinal(id, 'unreadable_document', /damaged/);

    const retried = await api.request('POST', `/api/v1/jobs/${id}/retry`, { token });

    expect(retried.status).to.equal(200);
    expect(retried.body).to.include({ status: 'queued', attempts: 0 });
    expect(retried.body.input).to.deep.equal({ documentId, retryOf: id });
    await expectFinal(retried.body.id, 'unreadable_document', /damaged/);
    expect(await amountsOf(api, id)).to.deep.equal([2, -2]);
  });
});
