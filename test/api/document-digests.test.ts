import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { type S3Server, startS3Server } from '../adapters/storage/s3-server.ts';
import { createJob } from '../support/jobs.ts';
import { type UsedApi, useApi } from '../support/use-api.ts';

const digestOf = (bytes: string) => createHash('sha256').update(bytes).digest('hex');
const get = async ({ api, tenant }: UsedApi, id: string) =>
  (await api.request('GET', `/api/v1/documents/${id}`, { token: tenant.owner.token })).body;

/** Extracts a document's text, and waits for the job. */
async function extract({ api, tenant }: UsedApi, documentId: string) {
  const { id } = await createJob(api, tenant, { kind: 'document.extract', documentId });
  return await api.jobIn(tenant.owner.token, id, ['succeeded', 'failed']);
}

describe('The digest of a document', () => {
  const used = useApi({ ai: true, tenant: 'of each test' });
  const { api } = used;

  it('is that of the bytes as they arrived, in any number of pieces', async () => {
    for (const bytes of ['', 'A text.', 'long '.repeat(100_000)]) {
      const { id } = await api.upload(used.tenant, { bytes: bytes || ' ' });
      expect(await get(used, id)).to.include({ sha256: digestOf(bytes || ' ') });
    }
  });

  it('is not there before the bytes are, nor for bytes that are too many', async () => {
    const { token } = used.tenant.owner;
    const body = { workspaceId: used.tenant.workspaceId, name: 'a.txt', contentType: 'text/plain', size: 3 };
    const { document, upload } = (await api.request('POST', '/api/v1/documents', { token, body })).body;
    expect(document).not.to.have.property('sha256');
    for (const bytes of ['more', 'all']) {
      await fetch(upload.url, { method: 'PUT', headers: upload.headers, body: bytes });
      expect((await get(used, document.id)).sha256).to.equal(bytes === 'all' ? digestOf('all') : undefined);
      await api.request('POST', `/api/v1/documents/${document.id}/complete`, { token });
    }
    expect(await get(used, document.id)).to.include({ status: 'ready', sha256: digestOf('all') });
  });

  it('is found by the next extraction of a document that was stored without one', async () => {
    const { id } = await api.upload(used.tenant, { bytes: 'An older text.' });
    await api.database.db.updateTable('document').set({ sha256: null }).where('id', '=', id).execute();
    expect(await extract(used, id))
      .to.deep.include({ status: 'succeeded' })
      .and.not.to.have.nested.property('result.sha256');
    expect(await get(used, id)).to.include({ sha256: digestOf('An older text.') });
  });
});

describe('The digest of a document in a bucket', () => {
  let server: S3Server;
  const used = useApi({
    ai: true,
    tenant: 'of each test',
    async env() {
      server = await startS3Server();
      return server.env;
    },
  });
  after(() => server.close());

  it('is there once its text was extracted: nothing else reads its bytes', async () => {
    const { id } = await used.api.upload(used.tenant, { bytes: 'A text in a bucket.' });
    expect(await get(used, id)).not.to.have.property('sha256');
    await extract(used, id);
    expect(await get(used, id)).to.include({ sha256: digestOf('A text in a bucket.') });
  });
});
