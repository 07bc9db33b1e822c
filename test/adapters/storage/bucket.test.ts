import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { BucketStorage } from '../../../adapters/storage/bucket.ts';
import { measureUpload } from '../../../domain/documents/complete-upload.ts';
import type { DocumentRow } from '../../../domain/documents/document.ts';
import { startBucketEmulator } from './bucket-emulator.ts';
import { type BucketServer, startBucketStandIn } from './bucket-server.ts';
import { describeStorage, put, type StartedStore } from './storage-suite.ts';

const maxUploadBytes = 1000;
const behindDriver = async (server: BucketServer): Promise<StartedStore> => ({
  storage: new BucketStorage({ ...server, maxUploadBytes }),
  close: server.close,
});

describeStorage('bucket storage', async () => behindDriver(await startBucketStandIn()));
describeStorage('bucket storage, with the emulator of Cloud Storage', async () => behindDriver(await startBucketEmulator()), {
  checksConditions: false,
});

describe('an object of more than one chunk', () => {
  it('is read without a warning of Node', async () => {
    const server = await startBucketStandIn();
    const warnings: string[] = [];
    const note = ({ message }: Error) => warnings.push(message);
    process.on('warning', note);
    try {
      const storage = new BucketStorage({ ...server, maxUploadBytes });
      await storage.write('org/doc', Readable.from([Buffer.alloc(1_000_000)]));
      const source = await storage.read('org/doc');
      expect(source && (await buffer(source)).length).to.equal(1_000_000);
      // Node tells of it in the next tick.
      await setImmediate();
      expect(warnings).to.deep.equal([]);
    } finally {
      process.off('warning', note);
      await server.close();
    }
  });
});

describe('an object that takes the place of one that is too large', () => {
  it('stays, although the deletion of the other comes only now', async () => {
    const server = await startBucketStandIn();
    // The first DELETE is held up until the object has been replaced.
    const arrived = Promise.withResolvers<void>();
    const replaced = Promise.withResolvers<void>();
    const slow = await startHoldingProxy(server.apiEndpoint, async (method) => {
      if (method !== 'DELETE') return;
      arrived.resolve();
      await replaced.promise;
    });
    try {
      const [direct, late] = [server, { ...server, apiEndpoint: slow.url }].map((each) => new BucketStorage({ ...each, maxUploadBytes }));
      if (!direct || !late) throw new Error('unreachable');
      const upload = async (body: string) => put(await direct.signUpload({ key: 'org/doc', contentType: 'text/plain' }), body);
      await upload('too large');
      const deleting = late.deleteIfLarger('org/doc', 4);
      await arrived.promise;
      await direct.delete('org/doc');
      await upload('good');
      replaced.resolve();
      await deleting;
      expect(await direct.stat('org/doc')).to.deep.equal({ sizeBytes: 4 });
    } finally {
      await slow.close();
      await server.close();
    }
  });
});

describe('the conditions of an upload to a bucket', () => {
  let server: BucketServer;
  let storage: BucketStorage;
  before(async () => {
    server = await startBucketStandIn();
    storage = new BucketStorage({ ...server, maxUploadBytes });
  });
  after(() => server.close());

  const sign = (key: string) => storage.signUpload({ key, contentType: 'text/plain' });

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

  it('accept more than the document declared, which its completion finds out and deletes', async () => {
    const target = await storage.signUpload({ key: 'org/larger', contentType: 'text/plain' });
    expect((await put(target, 'five!')).status).to.equal(200);
    const document = { object_key: 'org/larger', size_bytes: 1 } as DocumentRow;
    const refusal = await measureUpload(storage, document, (error) => Promise.reject(error)).catch((error: unknown) => error);
    expect(refusal).to.deep.include({ code: 'PAYLOAD_TOO_LARGE', data: { maxBytes: 1 } });
    expect(await storage.stat('org/larger')).to.equal(undefined);
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

/** Passes requests on to a server once `hold` has ended for them. */
async function startHoldingProxy(target: string, hold: (method: string) => Promise<void>) {
  const proxy = createServer(async (req, res) => {
    await hold(req.method ?? '');
    const { method, headers } = req;
    const onward = request(`${target}${req.url}`, { method, headers }, (response) => {
      res.writeHead(response.statusCode ?? 500, response.headers);
      response.pipe(res);
    });
    req.pipe(onward);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    async close() {
      proxy.closeAllConnections();
      await new Promise((resolve) => proxy.close(resolve));
    },
  };
}
