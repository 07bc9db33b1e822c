import { mkdirSync, renameSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Db } from '../../../db/connect.ts';
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
    const refused = await untilRefused(db, ids.length);
    await delay(short ? 0 : 5_000);
    const waiting = await db.selectFrom('object_to_delete').select('key').where('attempts', '>', 0).execute();
    for (const path of paths) {
      rmdirSync(path);
      renameSync(`${path}-aside`, path);
    }
    // An object that no longer waits for its deletion was given up.
    return { lost: Math.max(0, refused - waiting.length), stuck: documents - refused };
  },
};

/** Waits until the store has refused so many objects, for a minute at the most, and answers how many it has. */
async function untilRefused(db: Db, wanted: number): Promise<number> {
  for (const deadline = Date.now() + 60_000; ; await delay(100)) {
    const refused = await db.selectFrom('object_to_delete').select('key').where('attempts', '>', 0).execute();
    if (refused.length >= wanted || Date.now() > deadline) return Math.min(refused.length, wanted);
  }
}
