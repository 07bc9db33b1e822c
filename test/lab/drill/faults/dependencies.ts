import { mkdirSync, renameSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Db } from '../../../../db/connect.ts';
import type { AiMode } from '../ai-proxy.ts';
import type { Fault } from '../fault.ts';

function misbehaves(name: string, mode: AiMode, short: number): Fault {
  return {
    name,
    runs: { full: 1, short },
    async inject({ service: { ai }, short: isShort }) {
      ai.mode = mode;
      await delay(isShort ? 2_000 : 20_000);
      ai.mode = 'well';
      return undefined;
    },
  };
}

/** Every call takes longer than the timeout of an attempt. */
export const aiSlow = misbehaves('ai-slow', 'slow', 0);
export const aiErrors = misbehaves('ai-500', 'error', 0);
/** A final refusal: the jobs fail at once and are refunded. */
export const aiTooLarge = misbehaves('ai-413', 'too-large', 0);
/** A response with status 200 that violates the protocol. */
export const aiUnusable = misbehaves('ai-unusable', 'unusable', 1);

const documents = 3;

/** The store refuses to delete objects for a while: each is replaced by a directory, which not even root can delete as a file. */
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
    // An object that no longer waits for its deletion was abandoned.
    return { lost: Math.max(0, refused - waiting.length), stuck: documents - refused };
  },
};

/** Waits, for a minute at most, until the store has refused `wanted` objects. Returns how many it has refused. */
async function untilRefused(db: Db, wanted: number): Promise<number> {
  for (const deadline = Date.now() + 60_000; ; await delay(100)) {
    const refused = await db.selectFrom('object_to_delete').select('key').where('attempts', '>', 0).execute();
    if (refused.length >= wanted || Date.now() > deadline) return Math.min(refused.length, wanted);
  }
}
