import { randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { until } from '../../support/processes.ts';
import { exchange, putHead, startUploadServer, type UploadServer } from './upload-server.ts';

const contentType = 'text/plain';
const otherTypes: Record<string, string>[] = [{}, { 'Content-Type': 'application/octet-stream' }];

describe('PUT /uploads/{organizationId}/{documentId}, the odd ways', () => {
  let server: UploadServer;
  const start = async (options: Parameters<typeof startUploadServer>[0] = {}) => {
    server = await startUploadServer(options);
    return server;
  };
  afterEach(async () => {
    await server.close();
    expect(server.failures).to.deep.equal([]);
  });

  const sign = (key = 'org/doc') => server.storage.signUpload({ key, contentType });
  const incoming = () => readdir(join(server.dataDir, 'objects', '.incoming')).catch(() => []);
  const expectNothingStored = async () => {
    await server.settled();
    expect(await incoming()).to.deep.equal([]);
    expect(await server.storage.stat('org/doc')).to.equal(undefined);
  };

  describe('without a Content-Length', () => {
    it('answers 411 whatever type the request names', async () => {
      await start();
      const { url } = await sign();
      for (const headers of otherTypes) expectAnswer(await exchange(server.port, [putHead({ url, headers }, {})]), 411, 'length_required');
    });

    it('answers 411 to a chunked body', async () => {
      await start();
      const answer = await exchange(server.port, [putHead(await sign(), { 'Transfer-Encoding': 'chunked' }), '5\r\nhello\r\n0\r\n\r\n']);
      expectAnswer(answer, 411, 'length_required');
      await expectNothingStored();
    });

    it('lets a client see the 411 that is still sending chunks', async () => {
      await start();
      const chunk = Buffer.alloc(65_536);
      const target = await sign();
      const status = await sendWithNode(target.url, target.headers, Array(20).fill(chunk));
      expect(status).to.equal(411);
    });
  });

  describe('larger than the largest upload', () => {
    const tooLarge = async () => {
      await start({ maxUploadBytes: 1_000_000 });
      return sign();
    };

    it('answers 413 to the declared size, before the body', async () => {
      const target = await tooLarge();
      const { socket, received } = await open(putHead(target, { 'Content-Length': 1_000_001 }));
      await until(() => received().includes('requestId'));
      expectAnswer(received(), 413, 'too_large');
      expect(received()).to.match(/^connection: close/im);
      socket.destroy();
    });

    it('lets fetch see the 413', async () => {
      const target = await tooLarge();
      const response = await fetch(target.url, { method: 'PUT', headers: target.headers, body: Buffer.alloc(20_000_000) });
      expect(response.status).to.equal(413);
      expect(await response.json()).to.deep.equal({ error: 'too_large', requestId: 'request-1' });
    });

    it('keeps the connection for a client that sends its whole body after the 413', async () => {
      const target = await tooLarge();
      const { socket, received } = await open(putHead(target, { 'Content-Length': 1_500_000 }));
      await until(() => received().includes('requestId'));
      const closed = untilClosed(socket);
      socket.write(Buffer.alloc(1_500_000));
      expect(await closed).to.equal('closed');
      expect(socket.bytesWritten).to.be.greaterThan(1_500_000);
    });

    it('does not read a huge body to its end', async () => {
      const target = await tooLarge();
      const { socket } = await open(putHead(target, { 'Content-Length': 10_000_000_000 }));
      let sentBytes = 0;
      const closed = new Promise((resolve) => socket.once('close', resolve));
      const send = () => {
        if (!socket.writable) return;
        sentBytes += 1_000_000;
        socket.write(Buffer.alloc(1_000_000), send);
      };
      socket.on('error', () => undefined);
      send();
      await closed;
      expect(sentBytes).to.be.lessThan(100_000_000);
    });

    it('answers 413 instead of 100 to a client that asks whether it may send', async () => {
      const target = await tooLarge();
      const headers = { ...target.headers, 'Content-Length': '5000000', Expect: '100-continue' };
      const sent = request(target.url, { method: 'PUT', headers });
      const answer = new Promise((resolve, reject) => {
        sent.once('error', reject).once('continue', () => resolve('continue'));
        sent.once('response', (res) => resolve(res.statusCode));
      });
      sent.flushHeaders();
      expect(await answer).to.equal(413);
      sent.destroy();
    });
  });

  describe('of another length than declared', () => {
    it('stores nothing when the client leaves early', async () => {
      await start();
      const { socket } = await open([putHead(await sign(), { 'Content-Length': 100_000 }), Buffer.alloc(50_000)]);
      await until(async () => (await incoming()).length === 1);
      socket.destroy();
      await expectNothingStored();
    });

    for (const connection of ['keep-alive', 'close']) {
      it(`stores nothing when more follows on a connection to ${connection}`, async () => {
        await start();
        const answer = await exchange(server.port, [
          `${putHead(await sign(), { 'Content-Length': 5, Connection: connection })}hello and more`,
        ]);
        expect(answer).to.match(/^HTTP\/1.1 400 /);
        await expectNothingStored();
      });
    }

    it('stores nothing when more follows the last byte of a body that is being read', async () => {
      await start();
      const { socket, received } = await open([putHead(await sign(), { 'Content-Length': 100_001 }), Buffer.alloc(100_000)]);
      await until(async () => (await incoming()).length === 1);
      await delay(100);
      const closed = untilClosed(socket);
      socket.write('x and more');
      await closed;
      expect(received()).to.match(/^HTTP\/1.1 400 /);
      await expectNothingStored();
    });

    it('refuses a chunked body that declares a length too', async () => {
      await start();
      const answer = await exchange(server.port, [chunkedHead(await sign(), 5), '9\r\ntoo large\r\n0\r\n\r\n']);
      expect(answer).to.match(/^HTTP\/1.1 400 /);
      await expectNothingStored();
    });

    // A lenient parser, as some proxies need, lets both headers through: the route then counts for itself.
    for (const [name, declared] of [
      ['longer', 5],
      ['shorter', 500],
    ] as const) {
      it(`aborts a chunked body that is ${name} than its declared length`, async () => {
        await start({ http: { insecureHTTPParser: true } });
        const answer = await exchange(server.port, [chunkedHead(await sign(), declared), '9\r\ntoo large\r\n0\r\n\r\n']);
        expect(answer).to.equal('');
        await expectNothingStored();
      });
    }

    it('answers 413 to a chunked body once it is larger than the largest upload', async () => {
      await start({ maxUploadBytes: 1000, http: { insecureHTTPParser: true } });
      const { socket, received } = await open([chunkedHead(await sign(), 900), '7a120\r\n', Buffer.alloc(2000)]);
      await until(() => received().includes('requestId'));
      expectAnswer(received(), 413, 'too_large');
      const closed = untilClosed(socket);
      socket.write(Buffer.alloc(498_000));
      socket.write('\r\n0\r\n\r\n');
      expect(await closed).to.equal('closed');
      await expectNothingStored();
    });
  });

  describe('asking with Expect: 100-continue', () => {
    it('tells the client to go on only when it would be accepted', async () => {
      await start();
      const { socket, received } = await open(putHead(await sign(), { 'Content-Length': 5, Expect: '100-continue' }));
      await until(() => received().startsWith('HTTP/1.1 100 Continue'));
      socket.write('hello');
      await until(() => received().includes('HTTP/1.1 200 OK'));
      expect(received().match(/100 Continue/g)).to.have.length(1);
      socket.destroy();
    });

    it('refuses without it', async () => {
      await start();
      await server.storage.write('org/doc', [Buffer.from('first')] as unknown as AsyncIterable<Buffer>);
      const { socket, received } = await open(putHead(await sign(), { 'Content-Length': 5, Expect: '100-continue' }));
      await until(() => received().includes('requestId'));
      expectAnswer(received(), 412, 'already_uploaded');
      socket.destroy();
    });

    it('accepts a body that began before its signature expired', async () => {
      await start();
      const { socket, received } = await open(putHead(await sign(), { 'Content-Length': 5, Expect: '100-continue' }));
      await until(() => received().startsWith('HTTP/1.1 100 Continue'));
      server.clock.offsetMs = 2 * 60 * 60 * 1000;
      socket.write('hello');
      await until(() => received().includes('HTTP/1.1 200 OK'));
      socket.destroy();
    });
  });

  it('cuts an upload that stalls, and removes what it left', async () => {
    await start({ limits: { minBytesPerSecond: 1_000, rateWindowMs: 50 } });
    const answer = await exchange(server.port, [putHead(await sign(), { 'Content-Length': 100_000 }), randomBytes(50_000)]);
    expectAnswer(answer, 408, 'too_slow');
    await expectNothingStored();
  });

  it('does not cut a slow upload that goes on', async () => {
    await start({ limits: { minBytesPerSecond: 1, rateWindowMs: 2000 } });
    const { socket, received } = await open(putHead(await sign(), { 'Content-Length': 25 }));
    for (let sent = 0; sent < 25; sent++) {
      socket.write('.');
      await delay(100);
    }
    await until(() => received().startsWith('HTTP/1.1 200 OK'));
    socket.destroy();
  });

  async function open(request: string | (string | Buffer)[]): Promise<{ socket: Socket; received: () => string }> {
    let received = '';
    const socket = connect(server.port, '127.0.0.1');
    socket.on('data', (chunk) => {
      received += chunk;
    });
    await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
    for (const part of [request].flat()) socket.write(part);
    return { socket, received: () => received };
  }
});

function chunkedHead(target: Parameters<typeof putHead>[0], declaredBytes: number): string {
  return putHead(target, { 'Content-Length': declaredBytes, 'Transfer-Encoding': 'chunked' });
}

function expectAnswer(answer: string, status: number, error: string): void {
  const [head = '', body = ''] = answer.split('\r\n\r\n');
  expect(head).to.match(new RegExp(`^HTTP/1.1 ${status} `));
  expect(JSON.parse(body)).to.deep.equal({ error, requestId: 'request-1' });
}

/** Sends chunks one after another, whatever comes back meanwhile, and resolves to the status. */
function sendWithNode(url: string, headers: Record<string, string>, chunks: Buffer[]): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: 'PUT', headers }, (res) => {
      res.resume().once('end', () => resolve(res.statusCode));
    });
    sent.on('error', reject);
    for (const chunk of chunks) sent.write(chunk);
    sent.end();
  });
}

/** How a connection ended that the server was to close. */
function untilClosed(socket: Socket): Promise<'closed' | 'reset'> {
  socket.on('error', () => undefined);
  return new Promise((resolve) => socket.once('close', (hadError) => resolve(hadError ? 'reset' : 'closed')));
}
