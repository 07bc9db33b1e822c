import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import express from 'express';
import { dropSlowReaders } from '../../api/limits/slow-readers.ts';

describe('A response', () => {
  let server: Server;
  let port: number;
  let closed: Promise<void>;

  before(async () => {
    const app = express().use(dropSlowReaders(2_000));
    app.get('/', (_req, res) => {
      closed = once(res, 'close').then(() => {});
      res.send(Buffer.alloc(32 * 1024 * 1024));
    });
    server = createServer(app).listen(0, '127.0.0.1');
    await once(server, 'listening');
    ({ port } = server.address() as AddressInfo);
  });
  after(() => server.close());

  async function open(): Promise<IncomingMessage> {
    const [response] = (await once(get({ port, agent: false }), 'response')) as [IncomingMessage];
    return response.on('error', () => {});
  }

  it('that its client does not read is given up after a while', async () => {
    const response = await open();
    const startedAt = performance.now();
    await closed;
    expect(performance.now() - startedAt).to.be.within(1_000, 10_000);
    const ended = Promise.withResolvers<void>();
    response.resume().once('close', ended.resolve);
    await ended.promise;
    expect(response.complete).to.equal(false);
  });

  it('that its client reads is sent whole', async () => {
    const response = await open();
    let bytes = 0;
    for await (const chunk of response) bytes += (chunk as Buffer).length;
    expect(bytes).to.equal(32 * 1024 * 1024);
    await closed;
    expect(response.complete).to.equal(true);
  });
});
