import { mkdirSync, renameSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Fault } from '../fault.ts';

const documents = 3;

/** The store refuses to delete objects for a while: a directory stands where each was, which is refused to root, too. */
export const storeRefuses: Fault = {
  name: 'store-refuses',
  runs: { full: 2, short: 1 },
  async inject({ service: { db, objectsDirectory }, tenants, short }) {
    const [tenant] = tenants;
    if (!tenant) return undefined;
    const ids = await Promise.all(Array.from({ length: documents }, () => tenant.upload('an object that the store keeps')));
    const paths = ids.map((id) => join(objectsDirectory, tenant.organizationId, id));
    for (const path of paths) {
      renameSync(path, `${path}-aside`);
      mkdirSync(path);
    }
    await Promise.all(ids.map((id) => tenant.deleteDocument(id)));
    await delay(short ? 2_000 : 5_000);
    const refused = await db.selectFrom('object_to_delete').select('key').where('attempts', '>', 0).execute();
    for (const path of paths) {
      rmdirSync(path);
      renameSync(`${path}-aside`, path);
    }
    // An object that is not waiting for its deletion while the store refuses it was given up.
    return { lost: Math.max(0, documents - refused.length) };
  },
};
