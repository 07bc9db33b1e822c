import { expect } from 'chai';
import { BucketStorage } from '../../storage/bucket.ts';
import { createStorage } from '../../storage/create-storage.ts';
import { startBucketEmulator } from './bucket-emulator.ts';
import { type BucketServer, startBucketStandIn } from './bucket-server.ts';
import { describeBucketStorage, maxUploadBytes, put } from './bucket-suite.ts';

describeBucketStorage('bucket storage', startBucketStandIn);
describeBucketStorage('bucket storage, with the emulator where there is one', startBucketEmulator);

describe('the conditions of an upload to a bucket', () => {
  let server: BucketServer;
  let storage: BucketStorage;
  before(async () => {
    server = await startBucketStandIn();
    storage = new BucketStorage({ ...server, maxUploadBytes });
  });
  after(() => server.close());

  const sign = (key: string) => storage.signUpload({ key, contentType: 'text/plain' });

  it('refuse a second PUT onto an object that exists', async () => {
    const target = await sign('org/twice');
    expect((await put(target, 'first')).status).to.equal(200);
    expect((await put(target, 'second')).status).to.equal(412);
    expect(await storage.stat('org/twice')).to.deep.equal({ sizeBytes: 5 });
  });

  it('refuse more than the largest upload, and accept exactly that', async () => {
    expect((await put(await sign('org/large'), 'x'.repeat(maxUploadBytes + 1))).status).to.equal(400);
    expect((await put(await sign('org/large'), 'x'.repeat(maxUploadBytes))).status).to.equal(200);
  });

  it('hold only with every header that the target names', async () => {
    const target = await sign('org/headers');
    for (const name of Object.keys(target.headers)) {
      const { [name]: _, ...headers } = target.headers;
      expect((await put({ ...target, headers }, '')).status, name).to.equal(403);
    }
  });

  it('come from the configuration', async () => {
    const config = { bucket: 'documents', apiEndpoint: server.apiEndpoint, maxUploadBytes: 77 };
    const created = createStorage({ dataDir: '.', apiUrl: 'https://api.example', authSecret: 'unused', storage: config });
    expect([created.driver, created.location]).to.deep.equal(['bucket', 'documents']);
    const { headers } = await created.signUpload({ key: 'org/doc', contentType: 'text/csv' });
    expect(headers).to.deep.equal({
      'Content-Type': 'text/csv',
      'x-goog-if-generation-match': '0',
      'x-goog-content-length-range': '0,77',
    });
  });

  it('refuse more than the document declared, while it arrives', async () => {
    const { headers } = await storage.signUpload({ key: 'org/doc', contentType: 'text/csv', sizeBytes: 1 });
    expect(headers['x-goog-content-length-range']).to.equal('0,1');
  });

  it('refuse what is no key', async () => {
    for (const key of ['org', '../doc', 'org/doc/more']) {
      const error = await sign(key).catch((caught: unknown) => caught);
      expect(error, key).to.be.instanceOf(TypeError);
    }
  });
});

describe('a bucket that fails', () => {
  it('throws instead of calling an object absent', async () => {
    const server = await startBucketStandIn();
    const storage = new BucketStorage({ apiEndpoint: server.apiEndpoint, bucket: 'another', maxUploadBytes });
    try {
      for (const call of [() => storage.stat('org/doc'), () => storage.read('org/doc'), () => storage.delete('org/doc')]) {
        const error = await call().catch((caught: unknown) => caught);
        expect(error).to.be.instanceOf(Error).with.property('code', 403);
      }
    } finally {
      await server.close();
    }
  });
});
