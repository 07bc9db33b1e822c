import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { StorageUnavailable } from '../../../adapters/storage/port.ts';
import { S3Storage } from '../../../adapters/storage/s3.ts';

const errorBody = (code: string, message = 'as this test says') => `<Error><Code>${code}</Code><Message>${message}</Message></Error>`;

/** What a server of S3 may say that one for tests cannot be brought to say. */
describe('What a server of S3 refuses', () => {
  let server: Server;
  let respond: RequestListener;
  let requests: string[];
  let bodies: string[];
  let storage: S3Storage;
  before(async () => {
    server = createServer((req, res) => {
      requests.push(`${req.method} ${req.url}`);
      void text(req).then((body) => {
        bodies.push(body);
        respond(req, res);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const apiEndpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const credentials = { accessKeyId: 'key', secretAccessKey: 'secret' };
    storage = new S3Storage({ bucket: 'documents', apiEndpoint, region: 'us-east-1', credentials });
  });
  beforeEach(() => {
    requests = [];
    bodies = [];
  });
  after(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const answer = (status: number, body: string) => {
    respond = (_req, res) => void res.writeHead(status, { 'Content-Type': 'application/xml' }).end(body);
  };
  const failureOf = (promise: Promise<unknown>) => promise.then(() => undefined).catch((error: unknown) => error);

  for (const [status, code] of [
    [503, 'SlowDown'],
    [500, 'InternalError'],
    [429, 'TooManyRequests'],
    [408, 'Late'],
    [409, 'OperationAborted'],
    [400, 'RequestTimeout'],
  ] as const)
    it(`for now (${status} ${code}) is StorageUnavailable, after one request`, async () => {
      answer(status, errorBody(code));
      expect(await failureOf(storage.read('org/doc'))).to.be.instanceOf(StorageUnavailable);
      expect(requests).to.have.length(1);
    });

  it('is StorageUnavailable if a proxy says it in HTML, or cuts the connection', async () => {
    answer(502, '<html>Bad gateway</html>');
    expect(await failureOf(storage.read('org/doc'))).to.be.instanceOf(StorageUnavailable);
    respond = (req) => void req.socket.destroy();
    expect(await failureOf(storage.read('org/doc'))).to.be.instanceOf(StorageUnavailable);
  });

  for (const [status, code] of [
    [403, 'AccessDenied'],
    [400, 'InvalidRequest'],
    [301, 'PermanentRedirect'],
    [404, 'NoSuchBucket'],
  ] as const)
    it(`for good (${status} ${code}) is its error`, async () => {
      answer(status, errorBody(code));
      expect(await failureOf(storage.read('org/doc'))).to.have.property('name', code);
    });

  it('is told for each key of many, and an absent one is deleted', async () => {
    const refused = '<Error><Key>org/b</Key><Code>AccessDenied</Code><Message>It is locked</Message></Error>';
    const absent = '<Error><Key>org/c</Key><Code>NoSuchKey</Code><Message>It is not there</Message></Error>';
    answer(200, `<DeleteResult>${refused}${absent}</DeleteResult>`);
    const [portion] = await Array.fromAsync(storage.deleteMany(['org/a', 'org/b', 'org/c']));
    expect(portion?.deleted).to.deep.equal(['org/a', 'org/c']);
    expect([...(portion?.refused ?? [])].map(([key, error]) => [key, (error as Error).message])).to.deep.equal([
      ['org/b', 'AccessDenied: It is locked'],
    ]);
    expect(requests).to.deep.equal(['POST /documents/?delete=']);
  });

  it('is told for every key by an error that names none', async () => {
    answer(200, '<DeleteResult><Error><Code>InternalError</Code><Message>Nothing is deleted</Message></Error></DeleteResult>');
    const [portion] = await Array.fromAsync(storage.deleteMany(['org/a', 'org/b']));
    expect([portion?.deleted, [...(portion?.refused.keys() ?? [])]]).to.deep.equal([[], ['org/a', 'org/b']]);
  });

  it('leaves an object that took the place of one that was too large', async () => {
    const conditions: unknown[] = [];
    respond = (req, res) => {
      if (req.method === 'HEAD') return void res.writeHead(200, { 'Content-Length': '9', ETag: '"first"' }).end();
      conditions.push(req.headers['if-match']);
      res.writeHead(412, { 'Content-Type': 'application/xml' }).end(errorBody('PreconditionFailed'));
    };
    await storage.deleteIfLarger('org/doc', 4);
    expect(conditions).to.deep.equal(['"first"']);
  });

  it('is no length of an object: one of which it says none is not taken for empty', async () => {
    respond = (_req, res) => void res.writeHead(200, { 'Transfer-Encoding': 'chunked' }).end();
    for (const call of [storage.stat('org/doc'), storage.deleteIfLarger('org/doc', 4)])
      expect(await failureOf(call)).to.be.instanceOf(Error);
    expect(requests.filter((request) => request.startsWith('DELETE'))).to.deep.equal([]);
  });

  for (const [what, token] of [
    ['the same page again and again', '<NextContinuationToken>same</NextContinuationToken>'],
    ['no way to the next page', ''],
  ])
    it(`is the rest of a list, with ${what}`, async () => {
      const listed = '<Contents><Key>org/doc</Key></Contents>';
      answer(200, `<ListBucketResult>${listed}<IsTruncated>true</IsTruncated>${token}</ListBucketResult>`);
      const keys: string[] = [];
      const listing = async () => {
        for await (const { key } of storage.list('')) if (keys.push(key) > 5) return;
      };
      expect(await failureOf(listing())).to.be.instanceOf(StorageUnavailable);
    });

  it('is not an object that another has just stored', async () => {
    answer(412, errorBody('PreconditionFailed'));
    const failure = await failureOf(storage.write('org/doc', Readable.from([Buffer.from('bytes')])));
    expect(failure).to.have.property('name', 'ObjectExistsError');
  });

  it('is found out when it replaces the marker of a deployment in spite of the condition', async () => {
    respond = (req, res) => {
      if (req.method === 'GET') res.writeHead(404, { 'Content-Type': 'application/xml' }).end(errorBody('NoSuchKey'));
      else res.writeHead(200, { ETag: '"marker"' }).end();
    };
    expect(await failureOf(storage.claim('me')))
      .to.have.property('message')
      .that.includes('If-None-Match');
    expect(requests.map((request) => request.split('?')[0])).to.deep.equal([
      'GET /documents/.deployment',
      'PUT /documents/.deployment',
      'PUT /documents/.deployment',
      'DELETE /documents/.deployment',
    ]);
  });
});
