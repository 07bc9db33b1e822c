import { expect } from 'chai';
import { BucketStorage } from '../../storage/bucket.ts';
import { StorageUnavailable } from '../../storage/port.ts';
import { until } from '../support/processes.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { useApi } from '../support/use-api.ts';
import { type BucketServer, startBucketStandIn } from './bucket-server.ts';

describe('While a bucket says nothing', () => {
  let server: BucketServer;
  let proxy: TcpProxy;
  const { api, tenant } = useApi({
    async env() {
      server = await startBucketStandIn();
      proxy = await startTcpProxy({ host: '127.0.0.1', port: Number(new URL(server.apiEndpoint).port) });
      return { STORAGE_BUCKET: server.bucket, STORAGE_API_ENDPOINT: `http://127.0.0.1:${proxy.port}`, WORKER_ENABLED: 'false' };
    },
  });
  after(async () => {
    await proxy.stop();
    await server.close();
  });

  for (const forget of [false, true]) {
    it(`calls fail in time, and work again afterwards over connections that are ${forget ? 'new' : 'old'}`, async () => {
      const apiEndpoint = `http://127.0.0.1:${proxy.port}`;
      const storage = new BucketStorage({ bucket: server.bucket, apiEndpoint, maxUploadBytes: 100, timeoutMs: 1_000 });
      expect(await storage.stat('org/doc')).to.equal(undefined);
      proxy.silence();
      try {
        const calls = [storage.stat('org/doc'), storage.read('org/doc'), storage.delete('org/doc'), Array.fromAsync(storage.list(''))];
        for (const outcome of await Promise.allSettled(calls)) {
          expect(outcome.status === 'rejected' && outcome.reason).to.be.instanceOf(StorageUnavailable);
        }
      } finally {
        proxy.resume({ forget });
      }
      const works = () =>
        storage.stat('org/doc').then(
          () => true,
          () => false,
        );
      await until(works);
    });
  }

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
