import { createHash, createVerify, generateKeyPairSync } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { BucketStorage } from '../../storage/bucket.ts';
import { makeTestDirectory, removeTestDirectory } from '../support/directories.ts';

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
    expect(target.expiresAt.getTime()).to.be.within(before + 3_600_000, Date.now() + 3_600_000);
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
