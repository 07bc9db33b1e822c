import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { expect } from 'chai';
import { parse } from 'content-disposition';
import { BucketStorage } from '../../storage/bucket.ts';
import type { UploadTarget } from '../../storage/port.ts';
import { ObjectExistsError } from '../../storage/write-once.ts';
import type { BucketServer } from './bucket-server.ts';

export const maxUploadBytes = 1000;

/** What the bucket driver does with any server that speaks the interface of Cloud Storage. */
export function describeBucketStorage(title: string, start: () => Promise<BucketServer>): void {
  describe(title, () => {
    let server: BucketServer;
    let storage: BucketStorage;
    before(async () => {
      server = await start();
      storage = new BucketStorage({ ...server, maxUploadBytes });
    });
    after(() => server.close());
    afterEach(async () => {
      for await (const { key } of storage.list('')) await storage.delete(key);
    });

    const upload = async (key: string, body = 'bytes') => put(await storage.signUpload({ key, contentType: 'text/plain' }), body);
    const list = async (prefix: string) => {
      const keys: string[] = [];
      for await (const { key } of storage.list(prefix)) keys.push(key);
      return keys;
    };

    it('reads, measures and deletes what a client has put there', async () => {
      expect((await upload('org/doc', 'the bytes')).status).to.equal(200);
      expect(await storage.stat('org/doc')).to.deep.equal({ sizeBytes: 9 });
      expect(Buffer.from((await storage.readHead('org/doc', 3)) ?? []).toString()).to.equal('the');
      expect(Buffer.from((await storage.readHead('org/doc', 99)) ?? []).toString()).to.equal('the bytes');
      const stream = await storage.read('org/doc');
      expect(stream && (await text(stream))).to.equal('the bytes');
      await storage.delete('org/doc');
      expect(await storage.stat('org/doc')).to.equal(undefined);
    });

    it('deletes an object only if it is larger than allowed', async () => {
      await upload('org/doc', 'the bytes');
      await storage.deleteIfLarger('org/doc', 9);
      expect(await storage.stat('org/doc')).to.deep.equal({ sizeBytes: 9 });
      await storage.deleteIfLarger('org/doc', 8);
      expect(await storage.stat('org/doc')).to.equal(undefined);
      await storage.deleteIfLarger('org/doc', 8);
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
      expect(await storage.readHead('org/doc', 3)).to.equal(undefined);
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
      const keys = ['a/1', 'a/2', 'a/3', 'a/4', 'a/5', 'ab/1', 'b/1'];
      for (const key of keys) await upload(key);
      expect(await list('')).to.deep.equal(keys);
      expect(await list('a/')).to.deep.equal(keys.slice(0, 5));
      expect(await list('c/')).to.deep.equal([]);
    });

    it('lists from a key on', async () => {
      for (const key of ['a/1', 'a/2', 'b/1']) await upload(key);
      expect(await Array.fromAsync(storage.list('', 'a/2'), ({ key }) => key)).to.deep.equal(['a/2', 'b/1']);
    });

    it('belongs to the first who claims it, and its marker is no object', async () => {
      const owners = await Promise.all(['first', 'second'].map((deployment) => storage.claim(deployment)));
      expect(['first', 'second']).to.include(owners[0]);
      expect(owners[1]).to.equal(owners[0]);
      expect(await storage.claim('third')).to.equal(owners[0]);
      expect(await list('')).to.deep.equal([]);
    });

    it('lists when each object was stored', async () => {
      const before = Date.now();
      await upload('org/doc');
      for await (const { createdAt } of storage.list('org/')) expect(createdAt.getTime()).to.be.within(before - 1000, Date.now() + 1000);
    });
  });
}

/** A PUT with exactly the headers that the target names: fetch would add a type of its own to a string. */
export function put(target: UploadTarget, body: string): Promise<Response> {
  return fetch(target.url, { method: 'PUT', headers: target.headers, body: Buffer.from(body) });
}
