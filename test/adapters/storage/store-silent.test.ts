import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { BucketStorage } from '../../../adapters/storage/bucket.ts';
import { type Storage, StorageUnavailable } from '../../../adapters/storage/port.ts';
import { S3Storage } from '../../../adapters/storage/s3.ts';
import type { Environment } from '../../../base/config/environment.ts';
import { nightly } from '../../support/nightly.ts';
import { until } from '../../support/processes.ts';
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy.ts';
import { useApi } from '../../support/use-api.ts';
import { startBucketStandIn } from './bucket-server.ts';
import { environmentOf, startS3Server } from './s3-server.ts';

/** A server, and how a driver or a service reaches it at another address. */
interface Store {
  apiEndpoint: string;
  driver(apiEndpoint: string, timeoutMs?: number): Storage;
  env(apiEndpoint: string): Environment;
  close(): Promise<void>;
}

/** More than a store that works needs on a busy machine. */
const patientMs = 4_000;
/** Of an object, in bytes: more than fits between two ends of a connection. */
const size = 20_000_000;

const stores: Record<string, () => Promise<Store>> = {
  async 'a bucket of Cloud Storage'() {
    const { bucket, apiEndpoint, close } = await startBucketStandIn();
    return {
      apiEndpoint,
      driver: (address, timeoutMs = patientMs) => new BucketStorage({ bucket, apiEndpoint: address, maxUploadBytes: size, timeoutMs }),
      env: (address) => ({ STORAGE_BUCKET: bucket, STORAGE_API_ENDPOINT: address }),
      close,
    };
  },
  async 'a server of S3'() {
    const { options, close } = await startS3Server();
    return {
      apiEndpoint: options.apiEndpoint,
      driver: (apiEndpoint, timeoutMs = patientMs) => new S3Storage({ ...options, apiEndpoint, timeoutMs }),
      env: environmentOf,
      close,
    };
  },
};

for (const [name, start] of Object.entries(stores)) {
  describe(`While ${name} says nothing`, () => {
    let store: Store;
    let proxy: TcpProxy;
    let address: string;
    const { api, tenant } = useApi({
      async env() {
        store = await start();
        proxy = await startTcpProxy({ host: '127.0.0.1', port: Number(new URL(store.apiEndpoint).port) });
        address = `http://127.0.0.1:${proxy.port}`;
        return { ...store.env(address), WORKER_ENABLED: 'false' };
      },
    });
    after(async () => {
      await proxy.stop();
      await store.close();
    });

    const works = (storage: Storage) => () =>
      storage.stat('org/doc').then(
        () => true,
        () => false,
      );

    for (const forget of [false, true]) {
      nightly(`calls fail in time, and work again afterwards over connections that are ${forget ? 'new' : 'old'}`, async () => {
        const storage = store.driver(address);
        await until(works(storage));
        proxy.silence();
        try {
          const calls = [
            ...[storage.stat('org/doc'), storage.read('org/doc'), storage.delete('org/doc'), storage.claim('me')],
            Array.fromAsync(storage.list('')),
          ];
          for (const outcome of await Promise.allSettled(calls)) {
            expect(outcome.status === 'rejected' && outcome.reason).to.be.instanceOf(StorageUnavailable);
          }
          const keys = ['org/doc', 'org/other'];
          const portions = await Array.fromAsync(storage.deleteMany(keys));
          expect(portions.flatMap(({ deleted }) => deleted)).to.deep.equal([]);
          const refused = portions.flatMap((portion) => [...portion.refused]);
          expect(refused.map(([key]) => key)).to.deep.equal(keys);
          for (const [, error] of refused) expect(error).to.be.instanceOf(StorageUnavailable);
        } finally {
          proxy.resume({ forget });
        }
        await until(works(storage));
      });
    }

    it('calls fail at once if it takes no connections, and work again afterwards', async () => {
      const storage = store.driver(address);
      await proxy.cut();
      try {
        const failure = await storage.stat('org/doc').catch((error: unknown) => error);
        expect(failure).to.be.instanceOf(StorageUnavailable);
      } finally {
        await proxy.mend();
      }
      await until(works(storage));
    });

    nightly('the completion of an upload is SERVICE_UNAVAILABLE soon, and nothing piles up', async () => {
      const { token } = tenant.owner;
      const body = { workspaceId: tenant.workspaceId, name: 'note.txt', contentType: 'text/plain', size: 5 };
      const created = (await api.request('POST', '/api/v1/documents', { token, body })).body;
      const complete = () => api.request('POST', `/api/v1/documents/${created.document.id}/complete`, { token });
      proxy.silence();
      try {
        for (let round = 0; round < 3; round++) {
          const startedAt = performance.now();
          const { status, headers, body } = await complete();
          expect({ status, ...body }).to.include({ status: 503, code: 'SERVICE_UNAVAILABLE', defined: true });
          expect(Number(headers.get('retry-after'))).to.be.at.least(1);
          // It is three seconds, to which a busy machine adds.
          expect(performance.now() - startedAt).to.be.lessThan(9_000);
        }
        expect(proxy.open).to.be.lessThan(10);
      } finally {
        proxy.resume();
      }
      await until(async () => [404, 409, 412].includes((await complete()).status));
    });
  });
}

for (const [name, start] of Object.entries(stores)) {
  describe(`An object in ${name}`, () => {
    const shortMs = 1_000;
    let store: Store;
    let proxy: TcpProxy;
    let storage: Storage;
    before(async () => {
      store = await start();
      await store.driver(store.apiEndpoint).write('org/doc', Readable.from([Buffer.alloc(size)]));
    });
    beforeEach(async () => {
      proxy = await startTcpProxy({ host: '127.0.0.1', port: Number(new URL(store.apiEndpoint).port) });
      storage = store.driver(`http://127.0.0.1:${proxy.port}`, shortMs);
    });
    afterEach(() => proxy.stop());
    after(() => store.close());

    const open = async () => {
      let stream: Readable | undefined;
      await until(async () => {
        stream = await storage.read('org/doc').catch(() => undefined);
        return stream !== undefined;
      });
      return stream as Readable;
    };
    const failureOf = (stream: Readable) => buffer(stream).catch((error: unknown) => error);
    /** Reads the beginning of a stream, and says how its rest fails. */
    const begin = async (stream: Readable) => {
      const chunks = stream[Symbol.asyncIterator]();
      expect((await chunks.next()).done).to.equal(false);
      const rest = async () => {
        while (!(await chunks.next()).done);
      };
      return () => rest().catch((error: unknown) => error);
    };

    it('that stops at its beginning or in the middle ends its stream with an error in time', async () => {
      const [unread, begun] = [await open(), await open()];
      const failureOfRest = await begin(begun);
      proxy.silence();
      expect(await failureOf(unread)).to.be.instanceOf(StorageUnavailable);
      expect(await failureOfRest()).to.be.instanceOf(StorageUnavailable);
    });

    it('stays open as long as nobody reads it, at its beginning and in the middle', async () => {
      const stream = await open();
      await delay(2 * shortMs);
      let read = 0;
      for await (const chunk of stream) {
        read += chunk.length;
        if (read >= size / 2 && read - chunk.length < size / 2) await delay(2 * shortMs);
      }
      expect(read).to.equal(size);
    });

    it('that stops while nobody reads it ends its stream once somebody does', async () => {
      const stream = await open();
      proxy.silence();
      await delay(2 * shortMs);
      expect(stream.destroyed).to.equal(false);
      expect(await failureOf(stream)).to.be.instanceOf(StorageUnavailable);
    });

    it('that breaks off ends its stream with an error', async () => {
      const [broken, begun, unread] = [await open(), await open(), await open()];
      const failure = failureOf(broken);
      const failureOfRest = await begin(begun);
      await proxy.cut();
      expect(await failure).to.be.instanceOf(StorageUnavailable);
      expect(await failureOfRest()).to.be.instanceOf(StorageUnavailable);
      expect(await failureOf(unread)).to.be.instanceOf(StorageUnavailable);
      await proxy.mend();
    });

    it('that nobody wants any more closes its connection', async () => {
      const left = [await open(), await open(), await open()];
      for (const stream of left) await begin(stream);
      const openBefore = proxy.open;
      for (const stream of left) stream.destroy();
      await until(() => proxy.open <= openBefore - left.length);
    });
  });
}
