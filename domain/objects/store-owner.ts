import type { Db } from '../../db/connect.ts';
import type { Storage } from '../../storage/port.ts';

/** The store belongs to another deployment: nothing may be deleted there for the rows of this database. */
export class StoreOfAnotherDeployment extends Error {
  constructor({ location, owner, deployment }: { location: string; owner: string; deployment: string }) {
    super(
      `The store ${location} belongs to deployment ${owner}, and this database is of deployment ${deployment}: nothing is deleted there. Is it the wrong store, or the wrong database?`,
    );
    this.name = 'StoreOfAnotherDeployment';
  }
}

/**
 * To be called before anything is deleted from the store. A store that has no owner yet becomes this deployment's. Throws
 * {@link StoreOfAnotherDeployment}.
 */
export async function checkStoreOwner(db: Db, storage: Storage): Promise<void> {
  const { id: deployment } = await db.selectFrom('deployment').select('id').executeTakeFirstOrThrow();
  const owner = await storage.claim(deployment);
  if (owner !== deployment) throw new StoreOfAnotherDeployment({ location: storage.location, owner, deployment });
}
