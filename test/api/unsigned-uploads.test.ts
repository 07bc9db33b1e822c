import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { useApi } from '../support/use-api.ts';

describe('While no upload can be signed', () => {
  /** Has the keys of the store: a role of the machine would, too. */
  let keys: Server;
  let keysAreThere = false;
  const { api, tenant } = useApi({
    async env() {
      keys = createServer((_, res) => {
        res.statusCode = keysAreThere ? 200 : 500;
        const Expiration = new Date(Date.now() + 3_600_000).toISOString();
        res.end(keysAreThere ? JSON.stringify({ AccessKeyId: 'key', SecretAccessKey: 'secret', Token: 'token', Expiration }) : '{}');
      });
      await new Promise<void>((listening) => keys.listen(0, '127.0.0.1', listening));
      const { port } = keys.address() as AddressInfo;
      return {
        STORAGE_DRIVER: 's3',
        STORAGE_BUCKET: 'documents',
        STORAGE_REGION: 'eu-central-1',
        AWS_CONTAINER_CREDENTIALS_FULL_URI: `http://127.0.0.1:${port}/`,
        WORKER_ENABLED: 'false',
      };
    },
  });
  after(() => keys.close());

  const create = async (headers?: Record<string, string>) => {
    const { workspaceId, owner } = tenant;
    const body = { workspaceId, name: 'a.txt', contentType: 'text/plain', size: 1_000 };
    return await api.request('POST', '/api/v1/documents', { token: owner.token, body, ...(headers && { headers }) });
  };
  const usedBytes = async () => {
    const row = await api.database.db.selectFrom('workspace').select('used_bytes').where('id', '=', tenant.workspaceId).executeTakeFirst();
    return Number(row?.used_bytes);
  };

  it('none is created and counted', async () => {
    const answer = await create();
    expect(answer.status, JSON.stringify(answer.body)).to.equal(503);
    expect(await usedBytes()).to.equal(0);
  });

  it('it is created once that is possible, with the same key', async () => {
    const headers = { 'idempotency-key': 'the same' };
    expect((await create(headers)).status).to.equal(503);
    keysAreThere = true;
    const [first, again] = [await create(headers), await create(headers)];
    expect([first.status, again.status]).to.deep.equal([200, 200]);
    expect(again.body.document).to.deep.equal(first.body.document);
    for (const { body } of [first, again]) expect(body.upload.url).to.contain(`/${body.document.id}?`);
    expect(await usedBytes()).to.equal(1_000);
  });
});
