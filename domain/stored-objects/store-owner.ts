import type { Storage } from '../../adapters/storage/port.ts';
import type { Db } from '../../db/connect.ts';

/** Thrown if the store is not this database's: nothing may be read, stored or deleted there for its rows. */
export class WrongStore extends Error {}

/** The store belongs to another deployment. */
export class StoreOfAnotherDeployment extends WrongStore {
  constructor({ location, owner, deployment }: { location: string; owner: string; deployment: string }) {
    super(
      `The store ${location} belongs to deployment ${owner}, and this database is of deployment ${deployment}: nothing is deleted there. Is it the wrong store, or the wrong database?`,
    );
    this.name = 'StoreOfAnotherDeployment';
  }
}

/** The store has no marker and none of the documents that this database has. */
class StoreWithoutDocuments extends WrongStore {
  constructor({ location, deployment }: { location: string; deployment: string }) {
    super(
      `The store ${location} has no marker and no document of this database, which has documents. Processes on several hosts need one store that all of them reach: a bucket, or a shared directory as DATA_DIR (docs/deploy.md). If the documents are lost, restore a backup (docs/operations.md). To go on without them, write ${deployment} into .deployment in the store.`,
    );
    this.name = 'StoreWithoutDocuments';
  }
}

/** No API has marked the directory of documents yet, so it may be a directory of another host. */
export class UnmarkedStore extends Error {
  constructor({ location }: { location: string }) {
    super(
      `The directory ${location} has no marker: no API stores documents there. Either the API has not started yet, or it runs on another host and both need one store: a bucket, or a shared directory as DATA_DIR (docs/deploy.md).`,
    );
    this.name = 'UnmarkedStore';
  }
}

/** How many of the database's documents are looked for in a store without a marker. A single one that is found identifies the store. */
const documentsSought = 50;

/**
 * Checks at the start of a process, and before deletions, that the store belongs to this deployment. Marks a store without a marker if it
 * holds a document of the database, or the database has none; then a directory only if `stores` is true, since a worker may have that of a
 * wrong host. Throws StorageUnavailable, {@link StoreOfAnotherDeployment}, {@link StoreWithoutDocuments} or {@link UnmarkedStore}.
 */
export async function checkStoreOwner(db: Db, storage: Storage, { stores = true }: { stores?: boolean } = {}): Promise<void> {
  const { location } = storage;
  const deployment = await readDeployment(db);
  let owner = await storage.owner();
  if (owner === undefined) {
    const found = await findDocuments(db, storage);
    if (found === 'absent') throw new StoreWithoutDocuments({ location, deployment });
    if (found === 'none to find' && storage.driver === 'local' && !stores) throw new UnmarkedStore({ location });
    owner = await storage.claim(deployment);
  }
  if (owner !== deployment) throw new StoreOfAnotherDeployment({ location, owner, deployment });
}

/** Whether the store has the marker of this database's deployment. Makes none. */
export async function isOwnStore(db: Db, storage: Storage): Promise<boolean> {
  return (await storage.owner()) === (await readDeployment(db));
}

/** The id of the deployment that the database is of. */
export async function readDeployment(db: Db): Promise<string> {
  return (await db.selectFrom('deployment').select('id').executeTakeFirstOrThrow()).id;
}

/** Whether the store holds one of some documents of the database that were completed. */
async function findDocuments(db: Db, storage: Storage): Promise<'there' | 'absent' | 'none to find'> {
  const completed = await db.selectFrom('document').select('object_key').where('status', '=', 'ready').limit(documentsSought).execute();
  for (const { object_key } of completed) if (await storage.stat(object_key)) return 'there';
  return completed.length > 0 ? 'absent' : 'none to find';
}
