import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { expect } from 'chai';
import { createStorage } from '../../storage/create-storage.ts';
import { LocalStorage } from '../../storage/local.ts';
import { objectKey } from '../../storage/object-key.ts';
import { ObjectExistsError } from '../../storage/write-once.ts';
import { makeTestDirectory, removeTestDirectory } from '../support/directories.ts';

describe('local storage', () => {
  let dataDir: string;
  let storage: LocalStorage;
  beforeEach(() => {
    dataDir = makeTestDirectory();
    const config = { bucket: undefined, apiEndpoint: undefined, maxUploadBytes: 1000 };
    const created = createStorage({ dataDir, apiUrl: 'https://api.example', authSecret: 'a secret of sixteen letters', storage: config });
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

  it('is chosen without a bucket, and lies in the data directory', () => {
    expect(storage.driver).to.equal('local');
    expect(storage.location).to.equal(join(dataDir, 'objects'));
  });

  it('signs an upload for an hour, with the headers to send', async () => {
    const before = Date.now();
    const { url, headers, expiresAt } = await storage.signUpload({ key: 'org/doc', contentType: 'text/csv' });
    expect(url).to.match(/^https:\/\/api\.example\/uploads\/org\/doc\?expires=\d+&signature=[\w-]{43}$/);
    expect(headers).to.deep.equal({ 'Content-Type': 'text/csv' });
    expect(expiresAt.getTime()).to.be.within(before + 3_599_000, Date.now() + 3_600_000);
    expect(new URL(url).searchParams.get('expires')).to.equal(String(expiresAt.getTime() / 1000));
  });

  it('reads, measures and deletes what was written', async () => {
    await write('org/doc', 'the bytes');
    expect(await storage.stat('org/doc')).to.deep.equal({ sizeBytes: 9 });
    const stream = await storage.read('org/doc');
    expect(stream && (await buffer(stream)).toString()).to.equal('the bytes');
    await storage.delete('org/doc');
    expect(await storage.stat('org/doc')).to.equal(undefined);
  });

  it('deletes an object only if it is larger than allowed', async () => {
    await write('org/doc', 'the bytes');
    await storage.deleteIfLarger('org/doc', 9);
    expect(await storage.stat('org/doc')).to.deep.equal({ sizeBytes: 9 });
    await storage.deleteIfLarger('org/doc', 8);
    expect(await storage.stat('org/doc')).to.equal(undefined);
    await storage.deleteIfLarger('org/doc', 8);
  });

  it('takes an absent object for absent, not for an error', async () => {
    expect(await storage.stat('org/doc')).to.equal(undefined);
    expect(await storage.read('org/doc')).to.equal(undefined);
    await storage.delete('org/doc');
    expect(await list('')).to.deep.equal([]);
  });

  it('never replaces an object', async () => {
    await write('org/doc', 'first');
    const error = await write('org/doc', 'second').catch((caught: unknown) => caught);
    expect(error).to.be.instanceOf(ObjectExistsError);
    expect(await storage.stat('org/doc')).to.deep.equal({ sizeBytes: 5 });
    expect(await readdir(join(storage.location, '.incoming'))).to.deep.equal([]);
  });

  it('stores nothing of a source that fails, wherever it fails', async () => {
    for (const failAt of [0, 1, 3]) {
      const source = (async function* () {
        for (let n = 0; n < failAt; n++) yield Buffer.alloc(100_000);
        throw new Error('the source broke');
      })();
      const error = await storage.write('org/doc', source).catch((caught: unknown) => caught);
      expect(error).to.have.property('message', 'the source broke');
    }
    expect(await storage.stat('org/doc')).to.equal(undefined);
    expect(await readdir(join(storage.location, '.incoming'))).to.deep.equal([]);
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

  it('lists everything, or one organization', async () => {
    for (const key of ['a/1', 'a/2', 'ab/1', 'b/1']) await write(key);
    expect(await list('')).to.deep.equal(['a/1', 'a/2', 'ab/1', 'b/1']);
    expect(await list('a/')).to.deep.equal(['a/1', 'a/2']);
    expect(await list('c/')).to.deep.equal([]);
  });

  it('lists when each object was stored', async () => {
    const before = Date.now();
    await write('org/doc');
    for await (const { createdAt } of storage.list('org/')) expect(createdAt.getTime()).to.be.within(before - 1000, Date.now() + 1000);
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
    const old = new Date(Date.now() - 11 * 60_000);
    await utimes(join(incoming, 'old'), old, old);
    await list('');
    expect(await readdir(incoming)).to.deep.equal(['young']);
  });

  it('refuses what is no key or prefix', async () => {
    for (const key of ['', 'org', 'org/', '/doc', 'org/doc/more', '../doc', 'org/..', './.', 'org/a.b', 'org\\doc', 'org/dóc', 'org/\0']) {
      const error = await storage.stat(key).catch((caught: unknown) => caught);
      expect(error, key).to.be.instanceOf(TypeError);
    }
    for (const prefix of ['org', '/', '../', 'org/doc', '.incoming/']) {
      const error = await list(prefix).catch((caught: unknown) => caught);
      expect(error, prefix).to.be.instanceOf(TypeError);
    }
    expect(() => objectKey('..', 'doc')).to.throw(TypeError);
    expect(objectKey('org', 'doc')).to.equal('org/doc');
  });
});
