import { createHash, createVerify, generateKeyPairSync } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { GoogleAuth } from 'google-auth-library';
import { BucketStorage } from '../../../adapters/storage/bucket.ts';
import { createStorage } from '../../../adapters/storage/create-storage.ts';
import { StorageUnavailable } from '../../../adapters/storage/port.ts';
import { makeTestDirectory, removeTestDirectory } from '../../support/directories.ts';

const configured = { driver: 'bucket' as const, bucket: 'documents', apiEndpoint: undefined, maxUploadBytes: 100 };
const variable = 'GOOGLE_APPLICATION_CREDENTIALS';
const keys = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
});

describe('signed URLs of Cloud Storage', () => {
  const directory = makeTestDirectory();
  const inherited = process.env[variable];
  let storage: BucketStorage;
  before(async () => {
    const account = { type: 'service_account', client_email: 'sheaf@project.example', private_key: keys.privateKey };
    await writeFile(join(directory, 'account.json'), JSON.stringify(account));
    process.env[variable] = join(directory, 'account.json');
    storage = new BucketStorage({ bucket: 'documents', maxUploadBytes: 26_214_400 });
  });
  after(() => {
    if (inherited === undefined) delete process.env[variable];
    else process.env[variable] = inherited;
    removeTestDirectory(directory);
  });

  it('of an upload bind its method, type, size and that the object is new, for an hour', async () => {
    const before = Date.now();
    const target = await storage.signUpload({ key: 'org/doc', contentType: 'text/plain' });
    const url = new URL(target.url);
    expect(url.origin + url.pathname).to.equal('https://storage.googleapis.com/documents/org/doc');
    expect(url.searchParams.get('X-Goog-Expires')).to.equal('3600');
    expect(url.searchParams.get('X-Goog-Credential')).to.match(/^sheaf@project\.example\/\d{8}\/auto\/storage\/goog4_request$/);
    expect(target.headers).to.deep.equal({
      'Content-Type': 'text/plain',
      'x-goog-if-generation-match': '0',
      'x-goog-content-length-range': '0,26214400',
    });
    // A URL counts whole seconds.
    expect(target.expiresAt.getTime()).to.be.within(before + 3_599_000, Date.now() + 3_600_000);
    expect(isSigned('PUT', url, target.headers)).to.equal(true);
    expect(isSigned('PUT', url, { ...target.headers, 'x-goog-content-length-range': '0,999999999' })).to.equal(false);
    expect(isSigned('GET', url, target.headers)).to.equal(false);
  });

  it('of a download bind its name and type, for five minutes', async () => {
    const fileName = "Ü (1)'s *!.txt";
    const { url: signed } = await storage.signDownload({ key: 'org/doc', contentType: 'text/plain', fileName });
    const url = new URL(signed);
    expect(url.searchParams.get('X-Goog-Expires')).to.equal('300');
    expect(url.searchParams.get('response-content-type')).to.equal('text/plain');
    expect(url.searchParams.get('response-content-disposition')).to.match(/^attachment; filename="U \(1\)'s _!\.txt"; filename\*=UTF-8''/);
    expect(isSigned('GET', url, {})).to.equal(true);
    url.searchParams.set('response-content-type', 'text/html');
    expect(isSigned('GET', url, {})).to.equal(false);
  });

  it('are dated by the clock that the driver is given', async () => {
    const now = new Date(Date.now() - 120_000);
    const late = await createStorage({ dataDir: '.', apiUrl: '', authSecret: '', storage: configured }, { now: () => now });
    const second = Math.floor(now.getTime() / 1_000) * 1_000;
    const date = new Date(second).toISOString().replace(/[-:]|\.\d+/g, '');
    const upload = await late.signUpload({ key: 'org/doc', contentType: 'text/plain' });
    const download = await late.signDownload({ key: 'org/doc', contentType: 'text/plain', fileName: 'a.txt' });
    expect(upload.expiresAt.getTime()).to.equal(second + 3_600_000);
    expect(download.expiresAt.getTime()).to.equal(second + 300_000);
    for (const { url } of [upload, download]) expect(new URL(url).searchParams.get('X-Goog-Date')).to.equal(date);
  });
});

describe('signed URLs of Cloud Storage, made by a service without a key', () => {
  const { sign } = GoogleAuth.prototype;
  let asked = 0;
  // As Google's service that signs for those who have no key, while it says nothing.
  before(() => {
    GoogleAuth.prototype.sign = () => {
      asked += 1;
      return Promise.withResolvers<string>().promise;
    };
  });
  after(() => {
    GoogleAuth.prototype.sign = sign;
  });

  it('fail in time if the service that signs them says nothing', async () => {
    const links = {
      upload: (storage: BucketStorage) => storage.signUpload({ key: 'org/doc', contentType: 'text/plain' }),
      download: (storage: BucketStorage) => storage.signDownload({ key: 'org/doc', contentType: 'text/plain', fileName: 'a.txt' }),
    };
    for (const [name, link] of Object.entries(links)) {
      const before = asked;
      const storage = new BucketStorage({ bucket: 'documents', apiEndpoint: 'http://127.0.0.1:1', maxUploadBytes: 100, timeoutMs: 100 });
      const failure = await link(storage).catch((error: unknown) => error);
      expect(failure, name).to.be.instanceOf(StorageUnavailable);
      expect(asked, name).to.equal(before + 1);
    }
  });
});

/** Checks a V4 signature as Cloud Storage does: the canonical request is put together from what the client sends. */
function isSigned(method: string, url: URL, headers: Record<string, string>): boolean {
  const query = url.search.slice(1).split('&');
  const signature = url.searchParams.get('X-Goog-Signature') ?? '';
  const signedHeaders = url.searchParams.get('X-Goog-SignedHeaders') ?? '';
  const sent = new Headers({ ...headers, host: url.host });
  const canonicalRequest = [
    method,
    url.pathname,
    query
      .filter((parameter) => !parameter.startsWith('X-Goog-Signature='))
      .sort()
      .join('&'),
    ...signedHeaders.split(';').map((name) => `${name}:${sent.get(name)}`),
    '',
    signedHeaders,
    'UNSIGNED-PAYLOAD',
  ].join('\n');
  const scope = (url.searchParams.get('X-Goog-Credential') ?? '').split('/').slice(1).join('/');
  const digest = createHash('sha256').update(canonicalRequest).digest('hex');
  const signedText = ['GOOG4-RSA-SHA256', url.searchParams.get('X-Goog-Date'), scope, digest].join('\n');
  return createVerify('RSA-SHA256').update(signedText).verify(keys.publicKey, signature, 'hex');
}
