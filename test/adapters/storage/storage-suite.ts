import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { expect } from 'chai';
import { parse } from 'content-disposition';
import type { Storage, UploadTarget } from '../../../adapters/storage/port.ts';
import { ObjectExistsError } from '../../../adapters/storage/write-once.ts';

/** A store that is empty, and how it ends. */
export interface StartedStore {
  storage: Storage;
  close(): Promise<void>;
}

/** What every driver does with the server that is behind it; an emulator may not check the conditions that a signed URL has. */
export function describeStorage(title: string, start: () => Promise<StartedStore>, { checksConditions = true } = {}): void {
  describe(title, () => {
    let store: StartedStore;
    let storage: Storage;
    before(async () => {
      store = await start();
      storage = store.storage;
    });
    after(() => store.close());
    afterEach(async () => {
      for await (const { refused } of storage.deleteMany(await list(''))) expect([...refused]).to.deep.equal([]);
    });

    const upload = async (key: string, body = 'bytes') =>
      put(await storage.signUpload({ key, contentType: 'text/plain', sizeBytes: body.length }), body);
    const list = async (prefix: string, from?: string) => (await Array.fromAsync(storage.list(prefix, from), ({ key }) => key)).sort();

    it('reads, measures and deletes what a client has put there', async () => {
      expect((await upload('org/doc', 'the bytes')).status).to.equal(200);
      expect(await storage.stat('org/doc')).to.deep.equal({ sizeBytes: 9 });
      const stream = await storage.read('org/doc');
      expect(stream && (await text(stream))).to.equal('the bytes');
      await storage.delete('org/doc');
      expect(await storage.stat('org/doc')).to.equal(undefined);
    });

    if (checksConditions)
      it('refuses a second PUT onto an object that exists', async () => {
        const target = await storage.signUpload({ key: 'org/doc', contentType: 'text/plain', sizeBytes: 5 });
        expect((await put(target, 'first')).status).to.equal(200);
        expect((await put(target, 'other')).status).to.equal(412);
        const stream = await storage.read('org/doc');
        expect(stream && (await text(stream))).to.equal('first');
      });

    it('deletes an object only if it is larger than allowed', async () => {
      await upload('org/doc', 'the bytes');
      await storage.deleteIfLarger('org/doc', 9);
      expect(await storage.stat('org/doc')).to.deep.equal({ sizeBytes: 9 });
      await storage.deleteIfLarger('org/doc', 8);
      expect(await storage.stat('org/doc')).to.equal(undefined);
      await storage.deleteIfLarger('org/doc', 8);
    });

    it('deletes many at once, absent ones too, and tells which', async () => {
      const keys = Array.from({ length: 45 }, (_, n) => `org/${n}`);
      await Promise.all(keys.slice(0, 43).map((key) => storage.write(key, Readable.from([Buffer.from(key)]))));
      await upload('org/kept');
      const portions = await Array.fromAsync(storage.deleteMany(keys));
      expect(portions.flatMap(({ deleted }) => deleted).sort()).to.deep.equal([...keys].sort());
      expect(portions.flatMap(({ refused }) => [...refused])).to.deep.equal([]);
      expect(await list('')).to.deep.equal(['org/kept']);
      expect(await Array.fromAsync(storage.deleteMany([]))).to.deep.equal([]);
    });

    it('stores what the service writes, once', async () => {
      const bytes = randomBytes(300_000);
      await storage.write('org/doc', Readable.from([bytes.subarray(0, 100_000), bytes.subarray(100_000)]));
      const stream = await storage.read('org/doc');
      expect(stream && (await buffer(stream)).equals(bytes)).to.equal(true);
      const again = await storage.write('org/doc', Readable.from([Buffer.from('other')])).catch((error: unknown) => error);
      expect(again).to.be.instanceOf(ObjectExistsError);
      expect(await storage.stat('org/doc')).to.deep.equal({ sizeBytes: 300_000 });
    });

    it('stores an empty object, too', async () => {
      await storage.write('org/doc', Readable.from([]));
      expect(await storage.stat('org/doc')).to.deep.equal({ sizeBytes: 0 });
      const stream = await storage.read('org/doc');
      expect(stream && (await text(stream))).to.equal('');
    });

    it('stores nothing if the source fails', async () => {
      async function* broken() {
        yield Buffer.from('the first bytes');
        throw new Error('the source broke');
      }
      const failure = await storage.write('org/doc', broken()).catch((error: unknown) => error);
      expect(failure).to.have.property('message', 'the source broke');
      expect(await list('')).to.deep.equal([]);
    });

    it('takes an absent object for absent, not for an error', async () => {
      expect(await storage.stat('org/doc')).to.equal(undefined);
      expect(await storage.read('org/doc')).to.equal(undefined);
      await storage.delete('org/doc');
      expect(await list('')).to.deep.equal([]);
    });

    it('lets a client download an object under its name and type', async () => {
      await upload('org/doc', 'the bytes');
      const { url } = await storage.signDownload({ key: 'org/doc', contentType: 'application/pdf', fileName: 'Ü (1)’s.pdf' });
      const response = await fetch(url);
      expect([response.status, await response.text()]).to.deep.equal([200, 'the bytes']);
      expect(response.headers.get('content-type')).to.equal('application/pdf');
      const { type, parameters } = parse(response.headers.get('content-disposition') ?? '');
      expect([type, parameters.filename]).to.deep.equal(['attachment', 'Ü (1)’s.pdf']);
    });

    it('lists everything, or one organization, over several pages', async () => {
      const keys = ['a-b/1', 'a/1', 'a/2', 'a/3', 'a/4', 'a/5', 'ab/1', 'b/1'];
      for (const key of keys) await upload(key);
      expect(await list('')).to.deep.equal(keys);
      expect(await list('a/')).to.deep.equal(keys.slice(1, 6));
      expect(await list('c/')).to.deep.equal([]);
    });

    it('lists from a key on, or from a little before', async () => {
      for (const key of ['a/1', 'a/2', 'b/1']) await upload(key);
      expect(await list('', 'a/2')).to.include.members(['a/2', 'b/1']);
      expect(await list('', 'b/1')).to.deep.equal(['b/1']);
    });

    it('belongs to the first who claims it, and its marker is no object', async () => {
      const owners = await Promise.all(['first', 'second'].map((deployment) => storage.claim(deployment)));
      expect(['first', 'second']).to.include(owners[0]);
      expect(owners[1]).to.equal(owners[0]);
      expect(await storage.claim('third')).to.equal(owners[0]);
      expect(await storage.owner()).to.equal(owners[0]);
      expect(await list('')).to.deep.equal([]);
    });

    it('lists when each object was stored', async () => {
      const before = Date.now();
      await upload('org/doc');
      for await (const { createdAt } of storage.list('org/')) expect(createdAt.getTime()).to.be.within(before - 1000, Date.now() + 1000);
    });

    it('refuses what is no key or prefix', async () => {
      for (const key of ['', 'org', 'org/', '/doc', 'org/doc/more', '../doc', 'org/..', '.', 'org/a.b', 'org\\doc', 'org/dóc', 'org/\0']) {
        const calls = [storage.stat(key), storage.delete(key), storage.signUpload({ key, contentType: 'text/plain', sizeBytes: 1 })];
        for (const outcome of await Promise.allSettled(calls)) {
          expect(outcome.status === 'rejected' && outcome.reason, key).to.be.instanceOf(TypeError);
        }
      }
      for (const prefix of ['org', '/', '../', 'org/doc', '.incoming/']) {
        const error = await list(prefix).catch((caught: unknown) => caught);
        expect(error, prefix).to.be.instanceOf(TypeError);
      }
    });
  });
}

/** A PUT with exactly the headers that the target names: fetch would add a type of its own to a string. */
export function put(target: UploadTarget, body: string): Promise<Response> {
  return fetch(target.url, { method: 'PUT', headers: target.headers, body: Buffer.from(body) });
}
