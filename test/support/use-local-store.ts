import { LocalStorage } from '../../adapters/storage/local.ts';
import type { Db } from '../../db/connect.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';
import { makeTestDirectory, removeTestDirectory } from './directories.ts';

interface LocalStore {
  db: Db;
  /** The directory of the objects. */
  directory: string;
  storage: LocalStorage;
}

/** A database and a store of files for each test of a suite. The members are there once a test has begun. */
export function useLocalStore(): LocalStore {
  const store = {} as LocalStore;
  let database: TestDatabase;
  beforeEach(async () => {
    database = await createTestDatabase();
    store.db = database.db;
    store.directory = makeTestDirectory();
    store.storage = new LocalStorage({ directory: store.directory, publicUrl: 'http://localhost', secrets: [Buffer.from('secret')] });
  });
  afterEach(async () => {
    await database.drop();
    removeTestDirectory(store.directory);
  });
  return store;
}
