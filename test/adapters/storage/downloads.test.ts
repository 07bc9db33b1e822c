import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { expect } from 'chai';
import { parse } from 'content-disposition';
import { startUploadServer, type UploadServer } from './upload-server.ts';

const bytes = Buffer.from('0123456789');

describe('GET and HEAD /uploads/{organizationId}/{documentId}', () => {
  let server: UploadServer;
  before(async () => {
    server = await startUploadServer();
    await server.storage.write('org/doc', Readable.from([bytes]));
    await server.storage.write('org/empty', Readable.from([]));
  });
  after(() => server.close());
  afterEach(() => {
    server.clock.offsetMs = 0;
  });

  const get = async (init: RequestInit = {}, { key = 'org/doc', contentType = 'application/pdf', fileName = 'a.pdf' } = {}) =>
    fetch((await server.storage.signDownload({ key, contentType, fileName })).url, init);

  it('sends the bytes as an attachment of the document’s content type, closed in from all sides', async () => {
    const response = await get();
    expect(response.status).to.equal(200);
    expect(Buffer.from(await response.arrayBuffer())).to.deep.equal(bytes);
    expect(Object.fromEntries(response.headers)).to.include({
      'content-type': 'application/pdf',
      'content-length': '10',
      'accept-ranges': 'bytes',
      'content-disposition': 'attachment; filename=a.pdf',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "sandbox; default-src 'none'; frame-ancestors 'none'",
      'cache-control': 'private, no-store',
    });
  });

  it('answers HEAD with the same headers and no body', async () => {
    const { status, headers, ...response } = await get({ method: 'HEAD' }).then(async (r) => ({
      status: r.status,
      headers: Object.fromEntries(r.headers),
      body: await r.text(),
    }));
    expect([status, response.body]).to.deep.equal([200, '']);
    expect(headers).to.include({ 'content-type': 'application/pdf', 'content-length': '10', 'accept-ranges': 'bytes' });
  });

  it('sends an empty object', async () => {
    const response = await get({}, { key: 'org/empty' });
    expect([response.status, response.headers.get('content-length'), await response.text()]).to.deep.equal([200, '0', '']);
  });

  for (const fileName of [
    'Übersicht 2026.pdf',
    '日本語.txt',
    'quote " and \\ slash.txt',
    "it's 100% (done)*.csv",
    'smile 😀.png',
    'a;b=c.txt',
    '../../etc/passwd',
    '50%41.txt',
    'a\r\nSet-Cookie: b.txt',
  ]) {
    it(`names the file ${JSON.stringify(fileName)}`, async () => {
      const response = await get({}, { fileName });
      const header = response.headers.get('content-disposition') ?? '';
      expect(header).to.match(/^[ -~]*$/);
      const { type, parameters } = parse(header);
      expect([type, parameters.filename]).to.deep.equal(['attachment', fileName]);
    });
  }

  describe('with a Range', () => {
    const ranges: [string, string, string][] = [
      ['bytes=2-4', '234', 'bytes 2-4/10'],
      ['bytes=7-', '789', 'bytes 7-9/10'],
      ['bytes=-2', '89', 'bytes 8-9/10'],
      ['bytes=5-100', '56789', 'bytes 5-9/10'],
      ['bytes=-10', '0123456789', 'bytes 0-9/10'],
      ['bytes=-11', '0123456789', 'bytes 0-9/10'],
      ['bytes=-99999999999999999999', '0123456789', 'bytes 0-9/10'],
    ];
    for (const [range, body, contentRange] of ranges) {
      it(`sends ${range}`, async () => {
        const response = await get({ headers: { Range: range } });
        expect([response.status, await response.text()]).to.deep.equal([206, body]);
        expect(response.headers.get('content-range')).to.equal(contentRange);
        expect(response.headers.get('content-length')).to.equal(String(body.length));
        expect(response.headers.get('content-disposition')).to.equal('attachment; filename=a.pdf');
      });
    }

    it('answers 416 to one beyond the end', async () => {
      const response = await get({ headers: { Range: 'bytes=10-' } });
      expect(response.status).to.equal(416);
      expect(response.headers.get('content-range')).to.equal('bytes */10');
      expect(response.headers.get('content-disposition')).to.equal(null);
      expect(await response.json()).to.deep.equal({ error: 'range_not_satisfiable', requestId: 'request-1' });
    });

    it('answers 416 to an end of no bytes', async () => {
      for (const key of ['org/doc', 'org/empty'])
        expect((await get({ headers: { Range: 'bytes=-0' } }, { key })).status, key).to.equal(416);
    });

    it('sends an empty object for its end', async () => {
      const response = await get({ headers: { Range: 'bytes=-5' } }, { key: 'org/empty' });
      expect([response.status, response.headers.get('content-length'), await response.text()]).to.deep.equal([200, '0', '']);
    });

    it('sends everything for several ranges, a broken one, and one of an object that has changed', async () => {
      for (const headers of [{ Range: 'bytes=0-1,4-5' }, { Range: 'lines=1-2' }, { Range: 'bytes=0-1', 'If-Range': '"another"' }]) {
        const response = await get({ headers });
        expect([response.status, await response.text()]).to.deep.equal([200, bytes.toString()]);
      }
    });

    it('sends one of the object it has seen before', async () => {
      const etag = (await get({ method: 'HEAD' })).headers.get('etag') ?? '';
      expect((await get({ headers: { Range: 'bytes=0-1', 'If-Range': etag } })).status).to.equal(206);
    });
  });

  it('answers 404 where there is no object', async () => {
    for (const key of ['org/absent', 'absent/doc']) {
      const response = await get({}, { key });
      expect(response.status).to.equal(404);
      expect(await response.json()).to.deep.equal({ error: 'not_found', requestId: 'request-1' });
      expect(response.headers.get('content-disposition')).to.equal(null);
    }
  });

  describe('with a query string that allows something else', () => {
    const changes: [string, (url: URL) => unknown][] = [
      ['no signature', (url) => url.searchParams.delete('signature')],
      ['another file name', (url) => url.searchParams.set('fileName', 'evil.exe')],
      ['another content type', (url) => url.searchParams.set('contentType', 'text/html')],
      ['no file name', (url) => url.searchParams.delete('fileName')],
      ['two content types', (url) => url.searchParams.append('contentType', 'text/html')],
      ['another document', (url) => Object.assign(url, { pathname: '/uploads/org/empty' })],
      ['a path out of the store', (url) => Object.assign(url, { pathname: '/uploads/org/..%2Forg%2Fdoc' })],
    ];
    for (const [name, change] of changes) {
      it(`refuses ${name}`, async () => {
        const url = new URL((await server.storage.signDownload({ key: 'org/doc', contentType: 'application/pdf', fileName: 'a.pdf' })).url);
        change(url);
        const response = await fetch(url);
        expect(response.status).to.equal(403);
        expect(await response.json()).to.deep.equal({ error: 'invalid_signature', requestId: 'request-1' });
      });
    }

    it('refuses an expired signature, after five minutes', async () => {
      const { url, expiresAt } = await server.storage.signDownload({ key: 'org/doc', contentType: 'text/plain', fileName: 'a' });
      server.clock.offsetMs = expiresAt.getTime() - Date.now() - 30_000;
      expect((await fetch(url)).status).to.equal(200);
      server.clock.offsetMs = 5 * 60 * 1000;
      expect((await fetch(url)).status).to.equal(403);
    });
  });

  it('counts a client that leaves before the first byte for no failure', async () => {
    const { pathname, search } = new URL(
      (await server.storage.signDownload({ key: 'org/doc', contentType: 'text/plain', fileName: 'a' })).url,
    );
    const leave = () =>
      new Promise((resolve) => {
        const socket = connect(server.port, '127.0.0.1', () =>
          socket.write(`GET ${pathname}${search} HTTP/1.1\r\nHost: localhost\r\n\r\n`, () => socket.destroy()),
        );
        socket.once('close', resolve);
      });
    for (let count = 0; count < 30; count++) await leave();
    expect((await get()).status).to.equal(200);
    await server.settled();
    expect(server.failures).to.deep.equal([]);
  });
});
