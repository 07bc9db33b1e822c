// `node db/main.ts`: waits until the database has the schema of this code, which another process migrates. Ends with 1 after ten minutes.
import { setTimeout as sleep } from 'node:timers/promises';
import { ConfigurationError } from '../base/config/environment.ts';
import { loadOrExit } from '../base/config/load-or-exit.ts';
import { loadOpsConfig } from '../base/config/ops.ts';
import { createDb, createPool, type Db } from './connect.ts';
import { getMigrationStatus } from './migrate.ts';
import { migrations } from './migrations/index.ts';

const pollMs = 2_000;
const patienceMs = 10 * 60_000;

const databaseUrl = loadOrExit(() => {
  const { databaseUrl: url } = loadOpsConfig(process.env);
  if (!url) throw new ConfigurationError(['DATABASE_URL: is missing']);
  return url;
});
const db = createDb(createPool({ url: databaseUrl, poolSize: 1, name: 'sheaf waits for schema' }));
const isThere = await untilMigrated(db);
await db.destroy();
process.exitCode = isThere ? 0 : 1;

async function untilMigrated(db: Db): Promise<boolean> {
  let told = '';
  for (const deadline = Date.now() + patienceMs; Date.now() < deadline; await sleep(pollMs)) {
    const missing = await describeMissing(db);
    if (missing === '') return true;
    if (missing !== told) process.stdout.write(`${missing}\n`);
    told = missing;
  }
  return false;
}

/** The migrations or triggers that the schema lacks, or why they cannot be read; empty if it lacks none. A newer schema lacks none. */
async function describeMissing(db: Db): Promise<string> {
  try {
    const { pending } = await getMigrationStatus(db);
    const due = pending.filter((name) => name in migrations);
    if (due.length > 0) return `${due.length} migrations are to come, from ${due[0]} on.`;
    return pending.length === 0 ? '' : `Triggers are to come, from ${pending[0]} on.`;
  } catch (error) {
    return `The database cannot be read: ${error instanceof Error ? error.message : error}`;
  }
}
