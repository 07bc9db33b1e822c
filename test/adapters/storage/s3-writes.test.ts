import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { expect } from 'chai';
import { StorageUnavailable } from '../../../adapters/storage/port.ts';
import { S3Storage } from '../../../adapters/storage/s3.ts';
import { ObjectExistsError } from '../../../adapters/storage/write-once.ts';

type Respond = (res: ServerResponse) => void;

const fail =
  (status: number, code: string): Respond =>
  (res) =>
    res.writeHead(status, { 'Content-Type': 'application/xml' }).end(`<Error><Code>${code}</Code><Message>${code}</Message></Error>`);
const busy = fail(503, 'SlowDown');
const broken = fail(500, 'InternalError');
const exists = fail(412, 'PreconditionFailed');
const breakOff: Respond = (res) => res.destroy();
const well: Respond = (res) => res.writeHead(200, { ETag: '"etag"' }).end();
const xml =
  (text: string): Respond =>
  (res) =>
    res.writeHead(200, { 'Content-Type': 'application/xml' }).end(text);
const begun = xml('<InitiateMultipartUploadResult><UploadId>upload</UploadId></InitiateMultipartUploadResult>');
const completed = xml('<CompleteMultipartUploadResult><ETag>"etag"</ETag></CompleteMultipartUploadResult>');

describe('A write to S3, with a server that fails', () => {
  const server = createServer(async (req, res) => {
    const { length } = await buffer(req);
    requests.push(`${req.method} ${new URL(req.url ?? '', 'http://server').searchParams.get('partNumber') ?? '-'} ${length}`);
    (responses.shift() ?? well)(res);
  });
  const requests: string[] = [];
  let responses: Respond[] = [];
  let storage: S3Storage;
  before(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const credentials = { accessKeyId: 'key', secretAccessKey: 'secret' };
    storage = new S3Storage({ bucket: 'b', apiEndpoint: `http://127.0.0.1:${port}`, region: 'auto', credentials });
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  beforeEach(() => requests.splice(0));

  const write = (source: AsyncIterable<Buffer>, ...toGive: Respond[]) => {
    responses = toGive;
    return storage.write('org/doc', source).catch((error: unknown) => error);
  };
  const small = () => Readable.from([Buffer.from('bytes')]);
  const large = () => Readable.from([Buffer.alloc(6_000_000)]);

  it('is sent again if the server is busy, or the connection breaks', async () => {
    expect(await write(small(), busy, breakOff, well)).to.equal(undefined);
    expect(requests).to.deep.equal(['PUT - 5', 'PUT - 5', 'PUT - 5']);
  });

  it('of several parts sends each of them again', async () => {
    expect(await write(large(), begun, broken, well, busy, breakOff, well, completed)).to.equal(undefined);
    const [first, ...others] = requests;
    expect(first).to.equal('POST - 0');
    expect(others.slice(0, -1)).to.deep.equal([...Array(2).fill('PUT 1 5242880'), ...Array(3).fill('PUT 2 757120')]);
  });

  it('is StorageUnavailable if it stays so', async () => {
    for (const response of [busy, breakOff]) {
      expect(await write(small(), response, response, response)).to.be.instanceOf(StorageUnavailable);
      expect(requests.splice(0)).to.have.length(3);
    }
    expect(await write(large(), begun, busy, busy, busy)).to.be.instanceOf(StorageUnavailable);
  });

  it('says that an object exists only if it cannot be its own', async () => {
    expect(await write(small(), exists)).to.be.instanceOf(ObjectExistsError);
    expect(await write(small(), breakOff, exists)).to.be.instanceOf(StorageUnavailable);
    expect(await write(large(), begun, well, well, broken, fail(404, 'NoSuchUpload'))).to.be.instanceOf(StorageUnavailable);
  });

  it('fails with what the source has thrown, whatever the server says to that', async () => {
    const failure = new Error('the source broke');
    const source = async function* () {
      yield Buffer.alloc(6_000_000);
      throw failure;
    };
    expect(await write(source(), begun, well, busy, busy, busy)).to.equal(failure);
  });

  it('fails with the reason of a server that refuses it', async () => {
    expect(await write(small(), fail(403, 'AccessDenied'))).to.have.property('name', 'AccessDenied');
    expect(requests).to.have.length(1);
  });
});
