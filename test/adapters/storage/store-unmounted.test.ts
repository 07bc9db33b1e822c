import { mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { createJob } from '../../support/jobs.ts';
import { until } from '../../support/processes.ts';
import { withTimes } from '../../support/times.ts';
import { useApi } from '../../support/use-api.ts';

describe('While the directory of documents is not mounted', () => {
  const { api, tenant } = useApi({ env: withTimes({ jobRetryDelays: [500] }) });

  /** What is found in the empty directory beneath, after `work` was done there. */
  async function unmountedDuring(work: () => Promise<void>): Promise<string[]> {
    const objects = join(api.stack.dataDir, 'objects');
    renameSync(objects, `${objects}.away`);
    mkdirSync(objects);
    try {
      await work();
      return readdirSync(objects);
    } finally {
      rmSync(objects, { recursive: true });
      renameSync(`${objects}.away`, objects);
    }
  }

  it('a job is tried again, and succeeds once it is back', async () => {
    const { id: documentId } = await api.upload(tenant, { bytes: 'Some text.' });
    let id = '';
    await unmountedDuring(async () => {
      ({ id } = await createJob(api, tenant, { kind: 'document.extract', documentId, maxAttempts: 10 }));
      await until(() => api.stack.readLog('api').includes('the directory of documents has lost its marker'));
    });
    const { attempts } = await api.jobIn(tenant.owner.token, id, ['succeeded']);
    expect(attempts).to.be.above(1);
  });

  it('a job that has no more attempts fails for the reason', async () => {
    const { id: documentId } = await api.upload(tenant, { bytes: 'Some text.' });
    await unmountedDuring(async () => {
      const { id } = await createJob(api, tenant, { kind: 'document.extract', documentId, maxAttempts: 1 });
      const { error } = await api.jobIn(tenant.owner.token, id, ['failed']);
      expect(error).to.deep.equal({ code: 'store_unavailable', message: 'The store of documents is not available just now.' });
    });
  });

  it('documents are not missing: completion and download are refused for now', async () => {
    const { token } = tenant.owner;
    const { id } = await api.upload(tenant, { bytes: 'text' });
    const { body: link } = await api.request('GET', `/api/v1/documents/${id}/download-url`, { token });
    const declared = { workspaceId: tenant.workspaceId, name: 'a.txt', contentType: 'text/plain', size: 4 };
    const { body: pending } = await api.request('POST', '/api/v1/documents', { token, body: declared });
    await fetch(pending.upload.url, { method: 'PUT', headers: pending.upload.headers, body: 'text' });
    const complete = () => api.request('POST', `/api/v1/documents/${pending.document.id}/complete`, { token });
    await unmountedDuring(async () => {
      expect((await complete()).body.code).to.equal('SERVICE_UNAVAILABLE');
      const download = await fetch(link.url);
      expect(download.status).to.equal(503);
      expect(Number(download.headers.get('retry-after'))).to.be.above(0);
    });
    expect((await complete()).body.status).to.equal('ready');
    expect(await (await fetch(link.url)).text()).to.equal('text');
  });

  it('an upload is refused, leaves nothing beneath, and is taken once it is back', async () => {
    const { token } = tenant.owner;
    const declared = { workspaceId: tenant.workspaceId, name: 'a.txt', contentType: 'text/plain', size: 4 };
    const created = await api.request('POST', '/api/v1/documents', { token, body: declared });
    const { url, headers } = created.body.upload;
    const put = () => fetch(url, { method: 'PUT', headers, body: 'text' });
    const left = await unmountedDuring(async () => {
      const refused = await put();
      expect(refused.status).to.equal(503);
      expect(Number(refused.headers.get('retry-after'))).to.be.above(0);
    });
    expect(left).to.deep.equal([]);
    expect((await put()).status).to.equal(200);
  });
});
