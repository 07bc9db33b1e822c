import { mkdir, open, readdir, rename, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { expect } from 'chai';
import { createStorage } from '../../../adapters/storage/create-storage.ts';
import { LocalStorage } from '../../../adapters/storage/local.ts';
import { StorageUnavailable } from '../../../adapters/storage/port.ts';
import { makeTestDirectory, removeTestDirectory } from '../../support/directories.ts';
import { describeStorage } from './storage-suite.ts';
import { startUploadServer } from './upload-server.ts';

describeStorage('local storage behind its routes', async () => {
  const server = await startUploadServer();
  return { storage: server.storage, close: server.close };
});

describe('local storage', () => {
  let dataDir: string;
  let storage: LocalStorage;
  beforeEach(async () => {
    dataDir = makeTestDirectory();
    const config = { driver: 'local' as const, maxUploadBytes: 1000 };
    const authSecret = 'a secret of sixteen letters';
    const created = await createStorage({ dataDir, apiUrl: 'https://api.example', authSecret, storage: config });
    if (!(created instanceof LocalStorage)) throw new Error('Not the local driver.');
    storage = created;
  });
  afterEach(() => removeTestDirectory(dataDir));

  const write = (key: string, body = 'bytes') => storage.write(key, Readable.from([Buffer.from(body)]));
  const list = async (prefix: string) => {
    const keys: string[] = [];
    for await (const { key } of storage.list(prefix)) keys.push(key);
    return keys.sort();
  };

  it('signs an upload for an hour, with the headers to send', async () => {
    const before = Date.now();
    const { url, headers, expiresAt } = await storage.signUpload({ key: 'org/doc', contentType: 'text/csv' });
    expect(url).to.match(/^https:\/\/api\.example\/uploads\/org\/doc\?expires=\d+&signature=[\w-]{43}$/);
    expect(headers).to.deep.equal({ 'Content-Type': 'text/csv' });
    expect(expiresAt.getTime()).to.be.within(before + 3_599_000, Date.now() + 3_600_000);
    expect(new URL(url).searchParams.get('expires')).to.equal(String(expiresAt.getTime() / 1000));
  });

  it('has its marker on disk before it has its name, so that no power failure leaves an empty one', async () => {
    const handle = await open(dataDir);
    const handles = Object.getPrototypeOf(handle);
    await handle.close();
    const { sync } = handles;
    const owners: (string | undefined)[] = [];
    handles.sync = async function () {
      owners.push(await storage.owner());
      await sync.call(this);
    };
    try {
      expect(await storage.claim('a-deployment')).to.equal('a-deployment');
    } finally {
      handles.sync = sync;
    }
    expect(owners).to.deep.equal([undefined]);
    expect(await readdir(join(storage.location, '.incoming'))).to.deep.equal([]);
  });

  it('takes no object for absent while another directory shows in its place', async () => {
    await storage.claim('a-deployment');
    await write('org/doc');
    await rename(storage.location, `${storage.location}.away`);
    await mkdir(storage.location);
    const calls: Record<string, () => Promise<unknown>> = {
      stat: () => storage.stat('org/doc'),
      read: () => storage.read('org/doc'),
      delete: () => storage.delete('org/doc'),
      write: () => write('org/other'),
      owner: () => storage.owner(),
    };
    for (const [name, call] of Object.entries(calls))
      expect(await call().catch((error: unknown) => error), name).to.be.instanceOf(StorageUnavailable);
    expect(await readdir(storage.location)).to.deep.equal([]);
  });

  it('shows no object before it is whole', async () => {
    let seen: unknown = 'nothing';
    const source = (async function* () {
      yield Buffer.alloc(1_000_000);
      seen = [await storage.stat('org/doc'), await list('')];
      yield Buffer.from('end');
    })();
    await storage.write('org/doc', source);
    expect(seen).to.deep.equal([undefined, []]);
    expect(await storage.stat('org/doc')).to.deep.equal({ sizeBytes: 1_000_003 });
  });

  it('may be emptied while it is listed', async () => {
    for (let n = 0; n < 100; n++) await write(`org/${n}`);
    for await (const { key } of storage.list('org/')) await storage.delete(key);
    expect(await list('')).to.deep.equal([]);
  });

  it('removes what was not written to for ten minutes, and leaves younger files', async () => {
    const incoming = join(storage.location, '.incoming');
    await mkdir(incoming, { recursive: true });
    await writeFile(join(incoming, 'old'), '');
    await writeFile(join(incoming, 'young'), '');
    for (const [name, minutes] of Object.entries({ old: 11, young: 9 })) {
      const written = new Date(Date.now() - minutes * 60_000);
      await utimes(join(incoming, name), written, written);
    }
    await list('');
    expect(await readdir(incoming)).to.deep.equal(['young']);
  });
});
