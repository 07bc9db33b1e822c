import { expect } from 'chai';
import { createStorage } from '../../../adapters/storage/create-storage.ts';
import { S3Storage } from '../../../adapters/storage/s3.ts';

const ofEnvironment = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN', 'AWS_CREDENTIAL_EXPIRATION'] as const;

describe('S3 storage without a configured key', () => {
  const inherited = ofEnvironment.map((name) => [name, process.env[name]] as const);
  const expiration = new Date(Math.ceil(Date.now() / 1000) * 1000 + 20 * 60_000);
  before(() => {
    const [id, secret, token, expires] = ofEnvironment;
    Object.assign(process.env, { [id]: 'temporary', [secret]: 'secret', [token]: 'token', [expires]: expiration.toISOString() });
  });
  after(() => {
    for (const [name, value] of inherited) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  });

  it('takes that of the environment, and its links end with it', async () => {
    const storage = new S3Storage({ bucket: 'documents', region: 'eu-central-1' });
    const upload = await storage.signUpload({ key: 'org/doc', contentType: 'text/plain', sizeBytes: 5 });
    const url = new URL(upload.url);
    expect(url.origin + url.pathname).to.equal('https://documents.s3.eu-central-1.amazonaws.com/org/doc');
    expect(url.searchParams.get('X-Amz-Credential')).to.match(/^temporary\/\d{8}\/eu-central-1\/s3\/aws4_request$/);
    expect(url.searchParams.get('X-Amz-Security-Token')).to.equal('token');
    expect(upload.expiresAt).to.deep.equal(expiration);
    const before = Date.now();
    const download = await storage.signDownload({ key: 'org/doc', contentType: 'text/plain', fileName: 'a.txt' });
    expect(download.expiresAt.getTime()).to.be.within(before + 299_000, Date.now() + 300_000);
  });
});

describe('The S3 driver', () => {
  it('comes from the configuration', async () => {
    const storage = {
      driver: 's3' as const,
      bucket: 'documents',
      apiEndpoint: 'http://store:7070',
      publicEndpoint: 'https://files.example.com',
      region: 'auto',
      credentials: { accessKeyId: 'of-the-configuration', secretAccessKey: 'secret' },
      maxUploadBytes: 77,
    };
    const created = await createStorage({ dataDir: '.', apiUrl: 'https://api.example', authSecret: 'unused', storage });
    expect([created.driver, created.location]).to.deep.equal(['bucket', 'documents']);
    const { url } = await created.signUpload({ key: 'org/doc', contentType: 'text/csv', sizeBytes: 1 });
    expect(url).to.match(/^https:\/\/files\.example\.com\/documents\/org\/doc\?/);
    expect(new URL(url).searchParams.get('X-Amz-Credential')).to.match(/^of-the-configuration\/\d{8}\/auto\/s3\/aws4_request$/);
  });
});
