import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { BucketStorage } from '../../../adapters/storage/bucket.ts';
import { StorageUnavailable } from '../../../adapters/storage/port.ts';
import { startBucketStandIn } from './bucket-server.ts';

/** What Cloud Storage may say that a stand-in or an emulator cannot be brought to say. */
describe('What Cloud Storage refuses', () => {
  const timeoutMs = 1_000;
  let server: Server;
  let respond: RequestListener;
  let storage: BucketStorage;
  before(async () => {
    server = createServer((req, res) => respond(req, res));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const apiEndpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    storage = new BucketStorage({ bucket: 'documents', apiEndpoint, maxUploadBytes: 1_000, timeoutMs });
  });
  after(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const answer = (status: number) => {
    const body = JSON.stringify({ error: { code: status, message: 'as this test says' } });
    respond = (req, res) => {
      req.resume();
      req.once('end', () => res.writeHead(status, { 'Content-Type': 'application/json' }).end(body));
    };
  };
  const bytes = (size: number) => Readable.from([Buffer.alloc(size)]);
  const failureOf = (promise: Promise<unknown>) => promise.then(() => 'none').catch((error: unknown) => error);
  const calls: Record<string, () => Promise<unknown>> = {
    stat: () => storage.stat('org/doc'),
    write: () => storage.write('org/doc', bytes(10)),
    delete: () => storage.delete('org/doc'),
    deleteMany: async () => {
      for await (const { refused } of storage.deleteMany(['org/doc'])) throw refused.get('org/doc');
    },
    list: () => Array.fromAsync(storage.list('')),
    owner: () => storage.owner(),
    claim: () => storage.claim('me'),
  };

  for (const status of [408, 429, 500, 503])
    it(`for now (${status}) is StorageUnavailable`, async () => {
      answer(status);
      for (const [name, call] of Object.entries(calls)) expect(await failureOf(call()), name).to.be.instanceOf(StorageUnavailable);
    });

  for (const status of [400, 401, 403])
    it(`for good (${status}) is its error`, async () => {
      answer(status);
      for (const [name, call] of Object.entries(calls)) expect(await failureOf(call()), name).to.have.property('code', status);
    });

  it('nothing of an object that was stored as compressed: its bytes come as they are stored and measured', async () => {
    const stored = gzipSync(Buffer.alloc(1_000_000));
    const kept = { 'Content-Encoding': 'gzip' };
    respond = (req, res) => {
      if (!req.url?.includes('alt=media'))
        return void res.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify({ size: String(stored.length) }));
      res.writeHead(200, kept).end(stored);
    };
    const stream = await storage.read('org/doc');
    expect(stream && (await buffer(stream)).equals(stored)).to.equal(true);
    expect(await storage.stat('org/doc')).to.deep.equal({ sizeBytes: stored.length });
  });

  it('the rest of a list, with the same page again and again', async () => {
    const page = JSON.stringify({ items: [{ name: 'org/doc' }], nextPageToken: 'same' });
    respond = (_req, res) => void res.writeHead(200, { 'Content-Type': 'application/json' }).end(page);
    const keys: string[] = [];
    const listing = async () => {
      for await (const { key } of storage.list('')) if (keys.push(key) > 5) return;
    };
    expect(await failureOf(listing())).to.be.instanceOf(StorageUnavailable);
  });

  it('a write of which it takes nothing, or to which it says nothing, in time', async () => {
    for (const size of [10, 20_000_000]) {
      respond = (req) => void (size === 10 && req.resume());
      expect(await failureOf(storage.write('org/doc', bytes(size))), `${size} bytes`).to.be.instanceOf(StorageUnavailable);
    }
    respond = (req) => void req.socket.destroy();
    expect(await failureOf(storage.write('org/doc', bytes(10)))).to.be.instanceOf(StorageUnavailable);
  });

  it('no write because its source is slow, and says why a source broke', async () => {
    const pauses = async function* () {
      yield Buffer.from('one');
      await delay(1.5 * timeoutMs);
      yield Buffer.from('two');
    };
    const slow = async function* () {
      yield Buffer.from('one');
      await delay(1.5 * timeoutMs);
      throw new Error('the source broke');
    };
    answer(503);
    expect(await failureOf(storage.write('org/doc', slow()))).to.have.property('message', 'the source broke');
    const standIn = await startBucketStandIn();
    try {
      const working = new BucketStorage({ ...standIn, maxUploadBytes: 1_000, timeoutMs });
      await working.write('org/doc', pauses());
      expect(await working.stat('org/doc')).to.deep.equal({ sizeBytes: 6 });
    } finally {
      await standIn.close();
    }
  });
});
