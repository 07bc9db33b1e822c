import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import express from 'express';
import { dropSlowReaders, type SlowReadersOptions } from '../../api/limits/slow-readers.ts';

const mebibyte = 1024 * 1024;
const responseBytes = 32 * mebibyte;

describe('A response', () => {
  let server: Server;
  let closed: Promise<void>[];
  afterEach(() => server.close());

  async function serve(options: SlowReadersOptions): Promise<void> {
    closed = [];
    const app = express().use((req, res, next) => {
      res.locals.organizationId = req.query.organization;
      next();
    });
    app.use(dropSlowReaders(options)).get('/', (_req, res) => {
      closed.push(once(res, 'close').then(() => {}));
      res.send(Buffer.alloc(responseBytes));
    });
    server = createServer(app).listen(0, '127.0.0.1');
    await once(server, 'listening');
  }

  async function open(organization = 'one'): Promise<IncomingMessage> {
    const { port } = server.address() as AddressInfo;
    const [response] = (await once(get({ port, agent: false, path: `/?organization=${organization}` }), 'response')) as [IncomingMessage];
    return response.on('error', () => {});
  }

  /** Reads the rest of a response, and returns whether it came whole. */
  async function isWhole(response: IncomingMessage): Promise<boolean> {
    const ended = Promise.withResolvers<void>();
    response.resume().once('close', ended.resolve);
    await ended.promise;
    return response.complete;
  }

  it('that its client does not read is given up after a while', async () => {
    await serve({ readMs: 2_000 });
    const response = await open();
    const startedAt = performance.now();
    await closed[0];
    expect(performance.now() - startedAt).to.be.within(1_000, 10_000);
    expect(await isWhole(response)).to.equal(false);
  });

  it('that is the slowest of an organization is given up once too much of its responses is unread', async () => {
    await serve({ maxUnreadBytes: 100 * mebibyte });
    const ofAnother = await open('another');
    const own = [await open(), await open(), await open(), await open()];
    await closed[1];
    const whole = [];
    for (const response of [ofAnother, ...own]) whole.push(await isWhole(response));
    expect(whole).to.deep.equal([true, false, true, true, true]);
  });

  it('that its client reads is sent whole', async () => {
    await serve({ readMs: 20_000, maxUnreadBytes: 100 * mebibyte });
    const response = await open();
    let bytes = 0;
    for await (const chunk of response) bytes += (chunk as Buffer).length;
    expect(bytes).to.equal(responseBytes);
    await closed[0];
    expect(response.complete).to.equal(true);
  });
});
