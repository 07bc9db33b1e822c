import { readdirSync, readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { PutBucketCorsCommand } from '@aws-sdk/client-s3';
import { expect } from 'chai';
import type { UploadTarget } from '../../../adapters/storage/port.ts';
import { S3Storage } from '../../../adapters/storage/s3.ts';
import { createS3Client } from '../../../adapters/storage/s3-client.ts';
import { ObjectExistsError } from '../../../adapters/storage/write-once.ts';
import { type S3Server, startS3Server } from './s3-server.ts';
import { describeStorage, put } from './storage-suite.ts';

describeStorage('S3 storage', async () => {
  const server = await startS3Server();
  return { storage: new S3Storage(server.options), close: server.close };
});

describe('S3 storage, with a server that checks signatures', () => {
  let server: S3Server;
  let storage: S3Storage;
  before(async () => {
    server = await startS3Server();
    storage = new S3Storage(server.options);
  });
  after(() => server.close());
  afterEach(async () => {
    const keys = await Array.fromAsync(storage.list(''), ({ key }) => key);
    await Array.fromAsync(storage.deleteMany(keys));
  });

  const sign = (sizeBytes = 5) => storage.signUpload({ key: 'org/doc', contentType: 'text/plain', sizeBytes });
  const sent = async (target: UploadTarget, body = 'bytes') => {
    const response = await put(target, body);
    return [response.status, /<Code>(\w+)</.exec(await response.text())?.[1]];
  };
  const changed = (target: UploadTarget, change: (url: URL) => unknown): UploadTarget => {
    const url = new URL(target.url);
    change(url);
    return { ...target, url: url.href };
  };

  it('signs an upload for an hour, in the path of the server', async () => {
    const before = Date.now();
    const { url: signed, headers, expiresAt } = await sign();
    const url = new URL(signed);
    expect(url.origin + url.pathname).to.equal(`${server.options.apiEndpoint}/documents/org/doc`);
    expect(url.searchParams.get('X-Amz-Expires')).to.equal('3600');
    expect(url.searchParams.get('X-Amz-SignedHeaders')).to.equal('content-length;content-type;host;if-none-match');
    expect([...url.searchParams.keys()].filter((name) => /checksum/i.test(name))).to.deep.equal([]);
    expect(headers).to.deep.equal({ 'Content-Type': 'text/plain', 'If-None-Match': '*' });
    expect(expiresAt.getTime()).to.be.within(before + 3_599_000, Date.now() + 3_600_000);
  });

  describe('refuses an upload', () => {
    const mismatch = [403, 'SignatureDoesNotMatch'];
    afterEach(async () => expect(await storage.stat('org/doc')).to.equal(undefined));

    it('of another length than declared, longer or shorter', async () => {
      for (const body of ['longer', 'four', '']) expect(await sent(await sign(), body), body).to.deep.equal(mismatch);
    });

    it('of another type, or without the condition', async () => {
      const target = await sign();
      const others: Record<string, string>[] = [
        { ...target.headers, 'Content-Type': 'text/html' },
        { 'Content-Type': 'text/plain' },
        { 'If-None-Match': '*' },
      ];
      for (const headers of others) {
        const [status] = await sent({ ...target, headers });
        expect(status, JSON.stringify(headers)).to.equal(403);
      }
    });

    it('of another document, with a later expiry, or without a signature', async () => {
      const target = await sign();
      expect(await sent(changed(target, (url) => Object.assign(url, { pathname: '/documents/org/other' })))).to.deep.equal(mismatch);
      expect(await sent(changed(target, (url) => url.searchParams.set('X-Amz-Expires', '7200')))).to.deep.equal(mismatch);
      for (const unsigned of [
        changed(target, (url) => url.searchParams.delete('X-Amz-Signature')),
        changed(target, (url) => Object.assign(url, { search: '' })),
      ])
        expect([400, 403]).to.include((await sent(unsigned))[0]);
      expect(await storage.stat('org/other')).to.equal(undefined);
    });

    it('by the link of a download', async () => {
      const { url, expiresAt } = await storage.signDownload({ key: 'org/doc', contentType: 'text/plain', fileName: 'a.txt' });
      expect(await sent({ url, headers: {}, expiresAt })).to.deep.equal(mismatch);
    });

    it('after an hour', async () => {
      const signedAt = (agoMs: number) => new S3Storage({ ...server.options, now: () => new Date(Date.now() - agoMs) });
      const input = { key: 'org/doc', contentType: 'text/plain', sizeBytes: 5 };
      expect(await sent(await signedAt(3_602_000).signUpload(input))).to.deep.equal([403, 'AccessDenied']);
      expect(await sent(await signedAt(3_540_000).signUpload(input))).to.deep.equal([200, undefined]);
      await storage.delete('org/doc');
    });
  });

  it('lets exactly one of twenty PUTs at once onto the same target win', async () => {
    const target = await sign();
    const statuses = await Promise.all(Array.from({ length: 20 }, async (_, n) => (await put(target, `no ${n + 10}`)).status));
    expect(statuses.filter((status) => status === 200)).to.have.length(1);
    expect(statuses.filter((status) => ![200, 409, 412].includes(status))).to.deep.equal([]);
    const stored = await storage.read('org/doc');
    expect(stored && (await text(stored))).to.equal(`no ${statuses.indexOf(200) + 10}`);
  });

  it('refuses a download under another name or type, and after five minutes', async () => {
    await put(await sign(), 'bytes');
    const grant = { key: 'org/doc', contentType: 'text/plain', fileName: 'a.txt' };
    const before = Date.now();
    const { url, expiresAt } = await storage.signDownload(grant);
    expect(expiresAt.getTime()).to.be.within(before + 299_000, Date.now() + 300_000);
    for (const parameter of ['response-content-type', 'response-content-disposition']) {
      const other = new URL(url);
      other.searchParams.set(parameter, 'text/html');
      expect((await fetch(other)).status).to.equal(403);
    }
    const late = new S3Storage({ ...server.options, now: () => new Date(Date.now() - 302_000) });
    expect((await fetch((await late.signDownload(grant)).url)).status).to.equal(403);
    expect((await fetch(url)).status).to.equal(200);
  });

  it('lets browsers upload and download by the CORS rules of docs/deploy.md, from that origin alone', async () => {
    const [, rules = ''] = /^```json\n(.*?)^```/ms.exec(readFileSync('docs/deploy.md', 'utf8')) ?? [];
    const { apiEndpoint, bucket, ...client } = server.options;
    const s3 = createS3Client(client, apiEndpoint, { connectMs: 5_000, idleMs: 5_000 });
    await s3.send(new PutBucketCorsCommand({ Bucket: bucket, CORSConfiguration: { CORSRules: JSON.parse(rules) } }));
    const target = await sign();
    const preflight = async (origin: string, method: string, headers: string[]) => {
      const asked = { Origin: origin, 'Access-Control-Request-Method': method, 'Access-Control-Request-Headers': headers.join(',') };
      const response = await fetch(target.url, { method: 'OPTIONS', headers: asked });
      return [response.status, response.headers.get('access-control-allow-origin')];
    };
    const names = Object.keys(target.headers).map((name) => name.toLowerCase());
    const app = 'https://app.example.com';
    expect(await preflight(app, 'PUT', names)).to.deep.equal([200, app]);
    expect(await preflight(app, 'GET', [])).to.deep.equal([200, app]);
    expect(await preflight('https://other.example.com', 'PUT', names)).to.deep.equal([403, null]);
  });

  it('signs for the address that clients know, and asks at its own', async () => {
    const publicEndpoint = server.options.apiEndpoint.replace('127.0.0.1', 'localhost');
    const behind = new S3Storage({ ...server.options, publicEndpoint });
    const target = await behind.signUpload({ key: 'org/doc', contentType: 'text/plain', sizeBytes: 5 });
    expect(new URL(target.url).origin).to.equal(publicEndpoint);
    expect(await sent(target)).to.deep.equal([200, undefined]);
    expect(await behind.stat('org/doc')).to.deep.equal({ sizeBytes: 5 });
  });

  it('lists and deletes more than fits one request', async () => {
    const keys = Array.from({ length: 1_003 }, (_, n) => `org/${String(n).padStart(4, '0')}`);
    const store = (key: string) => storage.write(key, Readable.from([Buffer.from('x')]));
    await Readable.from(keys).map(store, { concurrency: 20 }).toArray();
    expect(await Array.fromAsync(storage.list('org/'), ({ key }) => key)).to.deep.equal(keys);
    expect(await Array.fromAsync(storage.list('org/', 'org/1000'), ({ key }) => key)).to.deep.equal(keys.slice(1_000));
    const portions = await Array.fromAsync(storage.deleteMany(keys));
    expect(portions.map(({ deleted, refused }) => [deleted.length, refused.size])).to.deep.equal([
      [1_000, 0],
      [3, 0],
    ]);
    expect(await Array.fromAsync(storage.list(''))).to.deep.equal([]);
  });

  it('writes what takes several requests, once, and leaves nothing of one that breaks', async () => {
    const pieces = Array.from({ length: 12 }, (_, n) => Buffer.alloc(1_000_000, n));
    await storage.write('org/doc', Readable.from(pieces));
    expect(await storage.stat('org/doc')).to.deep.equal({ sizeBytes: 12_000_000 });
    const again = await storage.write('org/doc', Readable.from(pieces.toReversed())).catch((error: unknown) => error);
    expect(again).to.be.instanceOf(ObjectExistsError);
    const stored = await storage.read('org/doc');
    expect(stored && (await buffer(stored))[0]).to.equal(0);
    const broken = (async function* () {
      yield* pieces;
      throw new Error('the source broke');
    })();
    const failure = await storage.write('org/broken', broken).catch((error: unknown) => error);
    expect(failure).to.have.property('message', 'the source broke');
    expect(await storage.stat('org/broken')).to.equal(undefined);
    expect(readdirSync(server.directory, { recursive: true }).filter((path) => String(path).includes('multipart/'))).to.deep.equal([]);
  });

  it('fails if the key is wrong or the bucket is absent, and calls no object absent', async () => {
    const options = server.options;
    const wrongKey = new S3Storage({ ...options, credentials: { accessKeyId: 'test-key', secretAccessKey: 'another' } });
    const noBucket = new S3Storage({ ...options, bucket: 'absent' });
    for (const [store, name] of [
      [wrongKey, 'SignatureDoesNotMatch'],
      [noBucket, 'NoSuchBucket'],
    ] as const) {
      const calls = [
        store.stat('org/doc'),
        store.read('org/doc'),
        store.delete('org/doc'),
        Array.fromAsync(store.list('')),
        store.claim('me'),
      ];
      for (const outcome of await Promise.allSettled(calls)) {
        expect(outcome.status === 'rejected' && outcome.reason).to.be.instanceOf(Error);
        // The response to a HEAD has no name.
        expect([name, 'Unknown']).to.include((outcome as PromiseRejectedResult).reason.name);
      }
      const [portion] = await Array.fromAsync(store.deleteMany(['org/doc']));
      expect(portion?.refused.get('org/doc')).to.have.property('name', name);
    }
  });
});
