import { once } from 'node:events';
import { readdir, readFile, statfs } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { until } from '../support/processes.ts';
import { exchange, putHead, startUploadServer, type UploadServer } from './upload-server.ts';

const contentType = 'text/plain';

describe('Uploads of a hostile tenant', () => {
  let server: UploadServer;
  let sockets: Socket[] = [];
  const start = async (options: Parameters<typeof startUploadServer>[0] = {}) => {
    server = await startUploadServer(options);
  };
  afterEach(async () => {
    for (const socket of sockets) socket.destroy();
    sockets = [];
    await server.close();
    expect(server.failures).to.deep.equal([]);
  });

  const sign = (key = 'org/doc') => server.storage.signUpload({ key, contentType });
  const incoming = () => readdir(join(server.dataDir, 'objects', '.incoming')).catch(() => []);
  const put = async (key: string, bytes: number | string) => {
    const { url, headers } = await sign(key);
    const response = await fetch(url, { method: 'PUT', headers, body: typeof bytes === 'number' ? Buffer.alloc(bytes, 'x') : bytes });
    const { error } = (await response.json()) as { error?: string };
    return { status: response.status, error, retryAfter: response.headers.get('retry-after') };
  };
  /** Begins a PUT of which one byte arrives. */
  const begin = async (key: string, declaredBytes: number): Promise<Socket> => {
    const before = (await incoming()).length;
    const socket = connect(server.port, '127.0.0.1').on('error', () => undefined);
    sockets.push(socket);
    socket.write(`${putHead(await sign(key), { 'Content-Length': declaredBytes })}x`);
    await until(async () => (await incoming()).length > before);
    return socket;
  };

  it('has one PUT of a document at a time', async () => {
    await start({ limits: { turnMs: 50 } });
    const first = await begin('org/doc', 2);
    const others = await Promise.all(Array.from({ length: 30 }, () => put('org/doc', 'yy')));
    for (const answer of others) expect(answer).to.deep.equal({ status: 409, error: 'upload_in_progress', retryAfter: '1' });
    expect(await incoming()).to.have.length(1);
    expect((await put('org/other', 'yy')).status).to.equal(200);
    first.write('x');
    await until(() => server.storage.stat('org/doc').then(Boolean));
    expect(await readFile(server.storage.pathOf('org/doc'), 'utf8')).to.equal('xx');
  });

  it('takes the retry at once whose connection broke', async () => {
    await start({ limits: { turnMs: 30_000 } });
    for (let round = 0; round < 5; round++) {
      const broken = await begin(`org/doc-${round}`, 1_000);
      broken.destroy();
      expect(await put(`org/doc-${round}`, 'yy')).to.deep.include({ status: 200 });
    }
  });

  it('ends an upload of a byte now and then', async () => {
    await start({ limits: { minBytesPerSecond: 1_000, rateWindowMs: 200 } });
    const slow = await begin('org/doc', 1_000_000);
    const closed = new Promise((resolve) => slow.once('close', resolve));
    const timer = setInterval(() => slow.write('x'), 20);
    await closed;
    clearInterval(timer);
    await server.settled();
    expect(await incoming()).to.deep.equal([]);
    expect((await put('org/doc', 'yy')).status).to.equal(200);
  });

  it('holds the rate against the client only while the client is waited for', async () => {
    await start({ maxUploadBytes: 10_000_000, limits: { minBytesPerSecond: 1_000_000, rateWindowMs: 500 } });
    expect((await put('org/doc', 10_000_000)).status).to.equal(200);
  });

  it('bounds the bytes of unfinished uploads of an organization', async () => {
    await start({ limits: { incomingBytesPerOrganization: 1_500 } });
    const first = await begin('org/one', 1_000);
    const startedAt = performance.now();
    expect(await put('org/two', 600)).to.deep.equal({ status: 429, error: 'too_many_uploads', retryAfter: '5' });
    // Whoever comes back at once does so once a second.
    expect(performance.now() - startedAt).to.be.at.least(495);
    expect((await put('org/two', 500)).status).to.equal(200);
    expect((await put('another/doc', 1_500)).status).to.equal(200);
    first.destroy();
    await until(async () => (await incoming()).length === 0);
    expect((await put('org/three', 1_500)).status).to.equal(200);
  });

  it('bounds the bytes of unfinished uploads of all', async () => {
    await start({ limits: { incomingBytes: 1_500 } });
    const first = await begin('org/one', 1_000);
    expect(await put('another/doc', 600)).to.deep.equal({ status: 503, error: 'uploads_busy', retryAfter: '5' });
    first.destroy();
    await until(async () => (await incoming()).length === 0);
    expect((await put('another/doc', 1_500)).status).to.equal(200);
  });

  it('loses its slow uploads, and all of them, once another tenant has no room', async () => {
    await start({ limits: { incomingBytes: 4_000, slowBytesPerSecond: 1_000, slowAfterMs: 0 } });
    const modest = await begin('modest/doc', 1_000);
    const slow = [await begin('loud/one', 1_000), await begin('loud/two', 1_000), await begin('loud/three', 1_000)];
    const responses = slow.slice(0, 2).map((socket) => once(socket, 'data'));
    expect((await put('another/doc', 1_500)).status).to.equal(200);
    // The oldest is the slowest: of each one byte has come.
    for (const [response] of await Promise.all(responses))
      expect(String(response))
        .to.match(/^HTTP\/1.1 408 /)
        .and.contain('too_slow');
    await until(async () => (await incoming()).length === 2);
    // Its room is free again, and nobody else has lost an upload.
    expect((await put('another/second', 2_000)).status).to.equal(200);
    modest.write('x'.repeat(999));
    await until(() => server.storage.stat('modest/doc').then(Boolean));
    // The client of one that was ended may begin again.
    for (const socket of slow) socket.destroy();
    await until(async () => (await incoming()).length === 0);
    expect((await put('loud/one', 1_000)).status).to.equal(200);
  });

  it('keeps uploads that are fast, or have just begun, and loses none for what would not fit all the same', async () => {
    await start({ limits: { incomingBytes: 1_500, slowBytesPerSecond: 1_000_000, slowAfterMs: 60_000 } });
    await begin('loud/young', 1_000);
    expect(await put('another/doc', 600)).to.deep.include({ status: 503, error: 'uploads_busy' });
    await server.close();
    await start({ limits: { incomingBytes: 1_500, slowBytesPerSecond: 1e-6, slowAfterMs: 0 } });
    await begin('loud/fast', 1_000);
    expect(await put('another/doc', 600)).to.deep.include({ status: 503, error: 'uploads_busy' });
    await server.close();
    await start({ limits: { incomingBytes: 1_500, slowBytesPerSecond: 1_000_000, slowAfterMs: 0 } });
    await begin('loud/slow', 1_000);
    expect(await put('another/doc', 1_600)).to.deep.include({ status: 503, error: 'uploads_busy' });
    expect(await incoming()).to.have.length(1);
  });

  it('refuses uploads before the disk is full, and keeps what is stored', async () => {
    const { bavail, bsize } = await statfs(tmpdir());
    await start({ limits: { reserveBytes: (bavail * bsize) / 2 } });
    expect((await put('org/before', 'kept')).status).to.equal(200);
    const full = await startUploadServer({ limits: { reserveBytes: 2 * bavail * bsize } });
    try {
      const target = await full.storage.signUpload({ key: 'org/doc', contentType });
      const answer = await exchange(full.port, [putHead(target, { 'Content-Length': 5 }), 'hello']);
      expect(answer)
        .to.match(/^HTTP\/1.1 507 /)
        .and.contain('storage_full')
        .and.match(/^retry-after: 60/im);
      expect(await readdir(join(full.dataDir, 'objects'))).to.deep.equal([]);
    } finally {
      await full.close();
    }
    expect(await readFile(server.storage.pathOf('org/before'), 'utf8')).to.equal('kept');
  });

  it('sets nothing aside for what it refuses because the disk is full, and the bytes of all that are on their way', async () => {
    await start({ limits: { incomingBytesPerOrganization: 1_500, reserveBytes: 1_000 } });
    server.storage.freeBytes = async () => 1_900;
    for (let time = 0; time < 3; time++) expect(await put('org/doc', 1_000)).to.deep.include({ status: 507, error: 'storage_full' });
    expect(await put('org/doc', 900)).to.deep.include({ status: 200 });
    await begin('org/slow', 500);
    expect(await put('another/doc', 401)).to.deep.include({ status: 507, error: 'storage_full' });
    expect(await put('another/doc', 400)).to.deep.include({ status: 200 });
    expect(server.toldOfFullDisk).to.have.length(4);
  });

  it('refuses an upload on which the disk becomes full, and leaves nothing of it', async () => {
    await start();
    const { storage } = server;
    const write = storage.write.bind(storage);
    for (const code of ['ENOSPC', 'EDQUOT']) {
      storage.write = async () => Promise.reject(Object.assign(new Error(`${code}: no space left on device`), { code }));
      expect(await put('org/doc', 'yy'), code).to.deep.equal({ status: 507, error: 'storage_full', retryAfter: '60' });
    }
    expect(server.toldOfFullDisk).to.have.length(2);
    storage.write = write;
    expect((await put('org/doc', 'yy')).status).to.equal(200);
  });

  it('keeps no more of an object than its document declared, and one byte that shows that it was larger', async () => {
    await start({ limits: { incomingBytesPerOrganization: 10 } });
    server.declared.set('org/doc', 1);
    expect((await put('org/doc', 900_000)).status).to.equal(200);
    expect(await server.storage.stat('org/doc')).to.deep.equal({ sizeBytes: 2 });
    server.declared.set('org/exact', 5);
    expect((await put('org/exact', 'hello')).status).to.equal(200);
    expect(await readFile(server.storage.pathOf('org/exact'), 'utf8')).to.equal('hello');
  });
});
