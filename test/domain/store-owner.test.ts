import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { LocalStorage } from '../../adapters/storage/local.ts';
import type { Storage } from '../../adapters/storage/port.ts';
import { checkStoreOwner } from '../../domain/stored-objects/store-owner.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { makeTestDirectory, removeTestDirectory } from '../support/directories.ts';

describe('A store without a marker', () => {
  let database: TestDatabase;
  let deployment: string;
  let directory: string;
  let storage: LocalStorage;
  beforeEach(async () => {
    database = await createTestDatabase();
    ({ id: deployment } = await database.db.selectFrom('deployment').select('id').executeTakeFirstOrThrow());
    directory = makeTestDirectory();
    storage = new LocalStorage({ directory, publicUrl: 'http://localhost', secrets: [Buffer.from('secret')] });
  });
  afterEach(async () => {
    await database.drop();
    removeTestDirectory(directory);
  });

  /** Gives the database documents, the first `lost` of which have no object. */
  async function addDocuments({ stored = 0, lost = 0, status = 'ready' as 'ready' | 'pending' }): Promise<void> {
    const { db } = database;
    await db.insertInto('organization').values({ id: 'one', name: 'one', slug: 'one', createdAt: new Date() }).execute();
    await db.insertInto('workspace').values({ id: 'one', organization_id: 'one', name: 'one', slug: 'one' }).execute();
    const ids = Array.from({ length: stored + lost }, (_, n) => `d${n}`);
    const place = { organization_id: 'one', workspace_id: 'one', name: 'a.txt', content_type: 'text/plain', size_bytes: 1, status };
    await db
      .insertInto('document')
      .values(ids.map((id) => ({ ...place, id, object_key: `one/${id}` })))
      .execute();
    for (const id of ids.slice(lost)) {
      const path = join(directory, 'one', id);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, 'x');
    }
  }
  const check = async (options?: { stores: boolean }, store: Storage = storage) =>
    await checkStoreOwner(database.db, store, options).then(
      () => 'its own',
      (error: Error) => error.name,
    );

  it('is refused if the database has documents and the store none of them, and is not marked', async () => {
    await addDocuments({ lost: 3 });
    for (const stores of [true, false]) expect(await check({ stores })).to.equal('StoreWithoutDocuments');
    expect(await storage.owner()).to.equal(undefined);
    const error = await checkStoreOwner(database.db, storage).catch((caught: Error) => caught);
    expect(error).to.have.property('message').that.includes(storage.location).and.includes(deployment).and.includes('docs/deploy.md');
  });

  it('is marked if it has a document of the database, as one from before there were markers', async () => {
    await addDocuments({ lost: 2, stored: 1 });
    expect(await check({ stores: false })).to.equal('its own');
    expect(await storage.owner()).to.equal(deployment);
  });

  it('is marked by who stores documents there, and not by a worker, while the database has none that is complete', async () => {
    await addDocuments({ lost: 1, status: 'pending' });
    expect(await check({ stores: false })).to.equal('UnmarkedStore');
    expect(await storage.owner()).to.equal(undefined);
    expect(await check()).to.equal('its own');
    expect(await check({ stores: false })).to.equal('its own');
    expect(readFileSync(join(directory, '.deployment'), 'utf8')).to.equal(deployment);
  });

  it('is accepted once an operator has written the marker, with a line break or without', async () => {
    await addDocuments({ lost: 1 });
    for (const content of [`${deployment}\n`, deployment]) {
      writeFileSync(join(directory, '.deployment'), content);
      expect(await check()).to.equal('its own');
    }
    writeFileSync(join(directory, '.deployment'), 'another\n');
    expect(await check()).to.equal('StoreOfAnotherDeployment');
  });
});
