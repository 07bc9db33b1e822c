import { createHmac } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { useApi } from '../support/use-api.ts';

describe('The signed addresses of a document', () => {
  // Without Temporal nothing deletes the objects of documents that are gone.
  const { api, tenant } = useApi({ env: { WORKER_ENABLED: 'false', TEMPORAL_ADDRESS: '127.0.0.1:1' } });

  const token = () => tenant.owner.token;
  const remove = async (id: string) =>
    expect((await api.request('DELETE', `/api/v1/documents/${id}`, { token: token() })).status).to.equal(200);
  const createUpload = async () => {
    const body = { workspaceId: tenant.workspaceId, name: 'a.txt', contentType: 'text/plain', size: 5 };
    return (await api.request('POST', '/api/v1/documents', { token: token(), body })).body;
  };
  const isStored = (id: string) => existsSync(join(api.stack.dataDir, 'objects', tenant.organizationId, id));

  it('read nothing once it is deleted, while its object is still there', async () => {
    const { id } = await api.upload(tenant, { bytes: 'bytes' });
    const { url } = (await api.request('GET', `/api/v1/documents/${id}/download-url`, { token: token() })).body;
    expect((await fetch(url)).status).to.equal(200);
    await remove(id);
    expect(isStored(id)).to.equal(true);
    for (const method of ['GET', 'HEAD']) {
      const answer = await fetch(url, { method });
      expect(answer.status, method).to.equal(404);
      const text = await answer.text();
      if (method === 'GET') expect(JSON.parse(text)).to.deep.equal({ error: 'not_found', requestId: answer.headers.get('x-request-id') });
    }
  });

  it('write nothing once it is deleted', async () => {
    const { document, upload } = await createUpload();
    await remove(document.id);
    const answer = await fetch(upload.url, { method: 'PUT', headers: upload.headers, body: 'bytes' });
    expect([answer.status, ((await answer.json()) as { error: string }).error]).to.deep.equal([404, 'not_found']);
    expect(isStored(document.id)).to.equal(false);
  });

  it('go with its workspace', async () => {
    const body = { organizationId: tenant.organizationId, name: 'Short', slug: 'short-lived' };
    const workspaceId = (await api.request('POST', '/api/v1/workspaces', { token: token(), body })).body.id;
    const { id } = await api.upload({ owner: tenant.owner, workspaceId }, { bytes: 'bytes' });
    const { url } = (await api.request('GET', `/api/v1/documents/${id}/download-url`, { token: token() })).body;
    await api.request('DELETE', `/api/v1/workspaces/${workspaceId}`, { token: token() });
    expect((await fetch(url)).status).to.equal(404);
  });

  it('tell nothing to who has no signature', async () => {
    const { document } = await createUpload();
    for (const id of [document.id, 'no-such-document']) {
      const signature = createHmac('sha256', 'a guess').digest('base64url');
      const answer = await fetch(`${api.url}/uploads/${tenant.organizationId}/${id}?signature=${signature}`);
      expect(answer.status, id).to.equal(403);
    }
  });
});
