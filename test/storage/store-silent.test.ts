import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { expect } from 'chai';
import type { Environment } from '../../config/environment.ts';
import { BucketStorage } from '../../storage/bucket.ts';
import { type Storage, StorageUnavailable } from '../../storage/port.ts';
import { S3Storage } from '../../storage/s3.ts';
import { until } from '../support/processes.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { useApi } from '../support/use-api.ts';
import { startBucketStandIn } from './bucket-server.ts';
import { environmentOf, type S3Server, startS3Server } from './s3-server.ts';

/** A server, and how a driver or a service reaches it at another address. */
interface Store {
  apiEndpoint: string;
  driver(apiEndpoint: string): Storage;
  env(apiEndpoint: string): Environment;
  close(): Promise<void>;
}

const timeoutMs = 1_000;

const stores: Record<string, () => Promise<Store>> = {
  async 'a bucket of Cloud Storage'() {
    const { bucket, apiEndpoint, close } = await startBucketStandIn();
    return {
      apiEndpoint,
      driver: (address) => new BucketStorage({ bucket, apiEndpoint: address, maxUploadBytes: 100, timeoutMs }),
      env: (address) => ({ STORAGE_BUCKET: bucket, STORAGE_API_ENDPOINT: address }),
      close,
    };
  },
  async 'a server of S3'() {
    const { options, close } = await startS3Server();
    return {
      apiEndpoint: options.apiEndpoint,
      driver: (apiEndpoint) => new S3Storage({ ...options, apiEndpoint, timeoutMs }),
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
      it(`calls fail in time, and work again afterwards over connections that are ${forget ? 'new' : 'old'}`, async () => {
        const storage = store.driver(address);
        expect(await storage.stat('org/doc')).to.equal(undefined);
        proxy.silence();
        try {
          const calls = [
            ...[storage.stat('org/doc'), storage.read('org/doc'), storage.delete('org/doc'), storage.claim('me')],
            Array.fromAsync(storage.list('')),
          ];
          for (const outcome of await Promise.allSettled(calls)) {
            expect(outcome.status === 'rejected' && outcome.reason).to.be.instanceOf(StorageUnavailable);
          }
          for await (const { deleted, refused } of storage.deleteMany(['org/doc', 'org/other'])) {
            expect(deleted).to.deep.equal([]);
            for (const [, error] of refused) expect(error).to.be.instanceOf(StorageUnavailable);
          }
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

    it('the completion of an upload is SERVICE_UNAVAILABLE soon, and nothing piles up', async () => {
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

describe('An object of S3 that stops in the middle', () => {
  it('ends its stream with an error in time', async () => {
    const server: S3Server = await startS3Server();
    const proxy = await startTcpProxy({ host: '127.0.0.1', port: Number(new URL(server.options.apiEndpoint).port) });
    try {
      await new S3Storage(server.options).write('org/doc', Readable.from([Buffer.alloc(20_000_000)]));
      const storage = new S3Storage({ ...server.options, apiEndpoint: `http://127.0.0.1:${proxy.port}`, timeoutMs });
      const stream = await storage.read('org/doc');
      proxy.silence();
      const failure = stream && (await buffer(stream).catch((error: unknown) => error));
      expect(failure).to.be.instanceOf(Error);
    } finally {
      proxy.resume();
      await proxy.stop();
      await server.close();
    }
  });
});
