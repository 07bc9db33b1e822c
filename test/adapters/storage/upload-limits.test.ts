import { once } from 'node:events';
import { readdir, readFile, statfs } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { until } from '../../support/processes.ts';
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

  it('stores one of several PUTs of a document, and counts the bytes of each', async () => {
    await start({ limits: { incomingBytesPerOrganization: 1_002 } });
    const first = await begin('org/doc', 1_000);
    expect((await put('org/doc', 'yy')).status).to.equal(200);
    first.write('x'.repeat(999));
    expect(String((await once(first, 'data'))[0]))
      .to.match(/^HTTP\/1.1 412 /)
      .and.contain('already_uploaded');
    expect(await readFile(server.storage.pathOf('org/doc'), 'utf8')).to.equal('yy');
  });

  it('stores nothing of a document that was deleted while its bytes arrived', async () => {
    await start();
    const slow = await begin('org/doc', 2);
    server.deleted.add('org/doc');
    slow.write('x');
    expect(String((await once(slow, 'data'))[0]))
      .to.match(/^HTTP\/1.1 404 /)
      .and.contain('not_found');
    expect(await server.storage.stat('org/doc')).to.equal(undefined);
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

  it('bounds the bytes of unfinished uploads of an organization', async () => {
    await start({ limits: { incomingBytesPerOrganization: 1_500 } });
    const first = await begin('org/one', 1_000);
    expect(await put('org/two', 600)).to.deep.equal({ status: 429, error: 'too_many_uploads', retryAfter: '5' });
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
