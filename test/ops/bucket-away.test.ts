import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { openBucket } from '../../ops/backup/bucket-place.ts';
import { digest, writePart } from '../../ops/backup/part.ts';
import type { Place } from '../../ops/backup/place.ts';
import { type S3Server, startS3Server } from '../adapters/storage/s3-server.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';

const awayMs = 6_000;
const bytes = randomBytes(8 * 1024 * 1024);
/** More than the library's own quota of retries serves. */
const files = Array.from({ length: 12 }, (_, index) => `objects/${index}`);

describe('a bucket of backups that is away for some seconds', function () {
  this.timeout(60_000);
  const earlier = { ...process.env };
  let server: S3Server;
  let proxy: TcpProxy;
  let place: Place;

  before(async () => {
    server = await startS3Server();
    mkdirSync(join(dirname(server.directory), 'backups'));
    const { apiEndpoint, credentials } = server.options;
    const { hostname: host, port } = new URL(apiEndpoint);
    proxy = await startTcpProxy({ host, port: Number(port) });
    Object.assign(process.env, {
      AWS_ENDPOINT_URL_S3: `http://127.0.0.1:${proxy.port}`,
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: credentials?.accessKeyId,
      AWS_SECRET_ACCESS_KEY: credentials?.secretAccessKey,
    });
    place = openBucket('backups', 'away');
  });
  after(async () => {
    for (const name of ['AWS_ENDPOINT_URL_S3', 'AWS_REGION', 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'])
      if (earlier[name] === undefined) delete process.env[name];
      else process.env[name] = earlier[name];
    await proxy?.stop();
    await server?.close();
  });

  async function whileAway<T>(work: () => Promise<T>): Promise<T> {
    await proxy.cut();
    const back = delay(awayMs).then(proxy.mend);
    return await work().finally(() => back);
  }

  it('gets what is written meanwhile', async () => {
    const source = async function* () {
      yield bytes;
    };
    const parts = await whileAway(() => Promise.all(files.map((file) => writePart(place, file, source()))));
    expect(parts.map((part) => part.bytes)).to.deep.equal(files.map(() => bytes.length));
  });

  it('is read to the end from where it broke off', async () => {
    const readers = files.map((file) => place.read(file)[Symbol.asyncIterator]() as AsyncIterableIterator<Buffer>);
    const begun = await Promise.all(readers.map(async (reader) => (await reader.next()).value.length));
    const rest = await whileAway(() => Promise.all(readers.map(digest)));
    expect(rest.map((part, index) => part.bytes + begun[index])).to.deep.equal(files.map(() => bytes.length));
  });
});
