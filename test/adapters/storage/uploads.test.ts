import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { UploadTarget } from '../../../adapters/storage/port.ts';
import { startUploadServer, type UploadServer } from './upload-server.ts';

const contentType = 'text/plain';

describe('PUT /uploads/{organizationId}/{documentId}', () => {
  let server: UploadServer;
  beforeEach(async () => {
    server = await startUploadServer();
  });
  afterEach(() => server.close());

  const sign = (key = 'org/doc') => server.storage.signUpload({ key, contentType });
  const put = (target: UploadTarget, body: string | Buffer<ArrayBuffer>, headers: Record<string, string> = {}) =>
    fetch(target.url, { method: 'PUT', headers: { ...target.headers, ...headers }, body });
  const incoming = () => readdir(join(server.dataDir, 'objects', '.incoming')).catch(() => []);

  it('stores the bytes and answers 200 with a small JSON body and no ETag', async () => {
    const bytes = Buffer.from([0, 255, 10, 13, 128]);
    const response = await put(await sign(), bytes);
    expect(response.status).to.equal(200);
    expect(await response.json()).to.deep.equal({});
    expect(response.headers.get('etag')).to.equal(null);
    expect(await readFile(server.storage.pathOf('org/doc'))).to.deep.equal(bytes);
    expect(await server.storage.stat('org/doc')).to.deep.equal({ sizeBytes: 5 });
    expect(await incoming()).to.deep.equal([]);
  });

  it('accepts exactly the largest size, and an empty object', async () => {
    expect((await put(await sign(), Buffer.alloc(server.maxUploadBytes))).status).to.equal(200);
    expect((await put(await sign('org/empty'), Buffer.alloc(0), { 'Content-Length': '0' })).status).to.equal(200);
    expect(await server.storage.stat('org/empty')).to.deep.equal({ sizeBytes: 0 });
  });

  it('takes several uploads over one connection', async () => {
    const first = await put(await sign('org/one'), 'one');
    await first.text();
    const second = await put(await sign('org/two'), 'two');
    expect([first.status, second.status]).to.deep.equal([200, 200]);
  });

  it('refuses a second PUT onto an object that exists, before its body, and leaves the object', async () => {
    const target = await sign();
    await put(target, 'first');
    const response = await put(target, 'second');
    expect(response.status).to.equal(412);
    expect(await response.json()).to.deep.equal({ error: 'already_uploaded', requestId: 'request-1' });
    expect(await readFile(server.storage.pathOf('org/doc'), 'utf8')).to.equal('first');
  });

  it('lets exactly one of twenty PUTs at once onto the same target win', async () => {
    const target = await sign();
    const bodies = Array.from({ length: 20 }, (_, n) => Buffer.alloc(200_000, n));
    const statuses = await Promise.all(bodies.map(async (body) => (await put(target, body)).status));
    expect(statuses.filter((status) => status === 200)).to.have.length(1);
    expect(statuses.filter((status) => status === 412)).to.have.length(19);
    const stored = await readFile(server.storage.pathOf('org/doc'));
    expect(stored.equals(bodies[statuses.indexOf(200)] ?? Buffer.alloc(0))).to.equal(true);
    expect(await incoming()).to.deep.equal([]);
  });

  describe('with a query string that allows something else', () => {
    const cases: [string, (url: URL) => unknown, Record<string, string>?][] = [
      ['no signature', (url) => url.searchParams.delete('signature')],
      ['no expiry', (url) => url.searchParams.delete('expires')],
      ['no query string at all', (url) => Object.assign(url, { search: '' })],
      ['another signature', (url) => url.searchParams.set('signature', Buffer.alloc(32).toString('base64url'))],
      ['a signature of another length', (url) => url.searchParams.set('signature', 'AAAA')],
      ['an empty signature', (url) => url.searchParams.set('signature', '')],
      [
        'the beginning of the signature',
        (url) => url.searchParams.set('signature', (url.searchParams.get('signature') ?? '').slice(0, 40)),
      ],
      ['two signatures', (url) => url.searchParams.append('signature', 'AAAA')],
      ['a later expiry', (url) => url.searchParams.set('expires', String(Number(url.searchParams.get('expires')) + 1))],
      ['an expiry that is no number', (url) => url.searchParams.set('expires', 'never')],
      ['another document', (url) => Object.assign(url, { pathname: '/uploads/org/other' })],
      ['another organization', (url) => Object.assign(url, { pathname: '/uploads/other/doc' })],
      ['a path out of the store', (url) => Object.assign(url, { pathname: '/uploads/org/..%2F..%2Fescaped' })],
      ['a place of the store itself', (url) => Object.assign(url, { pathname: '/uploads/.incoming/doc' })],
      ['another content type', () => undefined, { 'Content-Type': 'text/html' }],
      [
        'another content type and another document',
        (url) => Object.assign(url, { pathname: '/uploads/org/other' }),
        { 'Content-Type': 'a/b' },
      ],
    ];
    for (const [name, change, headers] of cases) {
      it(`refuses ${name}`, async () => {
        const target = await sign();
        const url = new URL(target.url);
        change(url);
        const response = await put({ ...target, url: url.href }, 'bytes', headers);
        expect(response.status).to.equal(403);
        expect(await response.json()).to.deep.equal({ error: 'invalid_signature', requestId: 'request-1' });
        // The type that was signed is told only to who has a valid link for it.
        expect(response.headers.get('accept')).to.equal(name === 'another content type' ? contentType : null);
        expect(await server.storage.stat('org/doc')).to.equal(undefined);
      });
    }

    it('refuses an expired signature', async () => {
      const target = await sign();
      server.clock.offsetMs = 60 * 60 * 1000;
      const response = await put(target, 'bytes');
      expect(response.status).to.equal(403);
      expect(await response.json()).to.deep.equal({ error: 'invalid_signature', requestId: 'request-1' });
      expect((await put(target, 'bytes', { 'Content-Type': 'text/html' })).headers.get('accept')).to.equal(null);
    });

    it('refuses the signature of a download', async () => {
      const { url } = await server.storage.signDownload({ key: 'org/doc', contentType, fileName: 'a.txt' });
      const response = await put({ url, headers: { 'Content-Type': contentType }, expiresAt: new Date() }, 'bytes');
      expect(response.status).to.equal(403);
    });
  });

  it('answers with the store’s own failure when it cannot write, and stays usable', async () => {
    await writeFile(join(server.dataDir, 'objects'), 'not a directory');
    expect((await put(await sign(), 'bytes')).status).to.equal(500);
    expect(server.failures).to.have.length(1);
    expect((await fetch(`${server.url}/uploads/org/doc`)).status).to.equal(403);
  });
});
