import { sql } from 'kysely';
import type { Db } from '../../db/connect.ts';
import { getMigrationStatus, migrate } from '../../db/migrate.ts';
import { migrations } from '../../db/migrations/index.ts';
import { inTransaction } from '../../db/transaction.ts';
import { recordAudit, systemActor } from '../../domain/audit.ts';
import { checkLedger } from '../../domain/credits/check-ledger.ts';
import { sweepLostAttempts } from '../../domain/jobs/sweep-jobs.ts';
import { holdMails } from '../../domain/platform/waiting-mails.ts';
import { checkBeforeMigration, checkTarget, loadDatabase } from '../backup/load-database.ts';
import { type LoadedObjects, loadObjects, verifyObjects } from '../backup/load-objects.ts';
import { type Manifest, readManifest } from '../backup/manifest.ts';
import { openPlace } from '../backup/open-place.ts';
import { isOfFiles, verifyPart } from '../backup/part.ts';
import type { Place } from '../backup/place.ts';
import { createStopwatch } from '../backup/stopwatch.ts';
import { type CommandAtRest, parseDirectory, UsageError } from '../command.ts';
import { type OpsContext, OpsError, type OpsTools, withDatabaseAtRest, withNewDatabase } from '../context.ts';
import { counted } from '../table.ts';

const flags = {
  check: { type: 'boolean' },
  rehearse: { type: 'boolean' },
  replace: { type: 'boolean' },
  json: { type: 'boolean' },
} as const;

export const restoreCommand: CommandAtRest = {
  usage: 'restore DIR [--check | --rehearse] [--replace] [--json]',
  summary:
    'Put a backup into an empty database and a store, while no service runs. --check only verifies the files; --rehearse also loads them into a database that is made for it, compares the ledger there, and drops it; --replace deletes what the database holds.',
  flags,
  async runAtRest(args, tools) {
    const { directory, check, rehearse: rehearses, replace = false, json } = parseDirectory('restore', args, flags);
    if (check && rehearses) throw new UsageError('--check and --rehearse exclude each other.');
    if ((check || rehearses) && replace) throw new UsageError('--replace is for a restore itself.');
    const place = await openPlace(directory);
    const manifest = await readManifest(place);
    const backup: Backup = { place, manifest, watch: createStopwatch(), note: tools.note };
    const restored = await (check
      ? verify(backup)
      : rehearses
        ? rehearse(backup, tools)
        : withDatabaseAtRest(tools, { makesDatabase: true }, (context) => run({ ...backup, replace, context }))
    ).catch((error: unknown) => {
      throw isOfFiles(error) ? new OpsError(`The backup cannot be read: ${error.message}`, { cause: error }) : error;
    });
    const { snapshotAt, deployment } = manifest;
    if (json) {
      const outcome = restored ?? { sound: true };
      tools.print(JSON.stringify({ snapshotAt, deployment, ...outcome, tookMs: backup.watch.tookMs }));
    } else for (const line of restored ? describe(backup, restored) : describeSound(backup, rehearses)) tools.print(line);
  },
};

interface Backup {
  place: Place;
  manifest: Manifest;
  watch: ReturnType<typeof createStopwatch<'verification' | 'objects' | 'database'>>;
  note(line: string): void;
}

interface Restore extends Backup {
  replace: boolean;
  context: OpsContext;
}

interface Restored {
  objects: LoadedObjects & { absent: number };
  rows: number;
  /** The jobs that were running, by their new state. */
  jobs: { requeued: number; failed: number };
  /** Mails that waited. */
  mailsHeld: number;
}

async function verify({ place, manifest, watch, note }: Backup): Promise<undefined> {
  note('Verifying the backup …');
  await watch.step('verification', async () => {
    for (const part of manifest.tables) await verifyPart(place, part);
    await verifyObjects(place, manifest);
  });
}

async function run(restore: Restore): Promise<Restored> {
  const { place, manifest, replace, watch, note, context } = restore;
  const { db, storage } = context;
  await checkTargets(restore);
  await verify(restore);
  await prepareDatabase(restore);
  // The objects first: until the rows are committed, the restore can be begun again.
  await claimStore(restore);
  const objects = await watch.step('objects', () => loadObjects({ storage, replace }, place, manifest, note));
  const jobs = await loadRows(restore);
  await recordRestore(db, manifest);
  const { deleted, lost } = manifest.objects;
  // A backup of an old schema had no column to mark mails as held; the migrated one has it.
  return { objects: { ...objects, absent: deleted + lost }, rows: rowsOf(manifest), jobs, mailsHeld: await holdMails(db) };
}

/** Loads the rows and migrates them to the schema of this version. */
function loadRows({ place, manifest, replace, watch, note, context: { databaseUrl: url, db } }: Restore): Promise<Restored['jobs']> {
  return watch.step('database', async () => {
    await loadDatabase({ url, replace }, place, manifest, note);
    await migrate(db);
    await sql`select adopt_pgvector()`.execute(db);
    return await takeBackAttempts(db);
  });
}

/** Writes the audit entry of a restore, which says since when entries are missing. */
async function recordRestore(db: Db, { deployment, snapshotAt }: Manifest): Promise<void> {
  const event = { organizationId: null, action: 'deployment.restore', targetId: deployment, metadata: { snapshotAt } };
  await inTransaction(db, (trx) => recordAudit(trx, systemActor, event));
}

/** Does with the rows what a restore does, in a database of its own, and with the objects only what shows that they are whole. */
async function rehearse(backup: Backup, tools: OpsTools): Promise<undefined> {
  await verify(backup);
  await withDatabaseAtRest(tools, { makesDatabase: true }, (context) =>
    withNewDatabase(context, async (own) => {
      const restore = { ...backup, replace: false, context: own };
      await prepareDatabase(restore);
      await loadRows(restore);
      const problems = await checkLedger(own.db);
      if (problems.length > 0) throw new OpsError(`The restored ledger is off in ${counted(problems.length, 'place')}.`);
    }),
  );
}

function describeSound({ place, manifest, watch }: Backup, rehearsed = false): string[] {
  if (!rehearsed) return [`${place.name} is sound, as of ${manifest.snapshotAt}.`];
  return [
    `${place.name} can be restored, as of ${manifest.snapshotAt}: ${counted(rowsOf(manifest), 'row')} loaded, the ledger is sound, ` +
      `${counted(manifest.objects.count, 'object')} verified. It took ${watch.describe()}.`,
  ];
}

const rowsOf = ({ tables }: Manifest): number => tables.reduce((sum, { rows }) => sum + rows, 0);

function describe({ manifest, watch }: Backup, { objects, rows, jobs, mailsHeld }: Restored): string[] {
  return [
    `Restored ${counted(rows, 'row')} and ${counted(objects.count, 'object')}. It took ${watch.describe()}.`,
    `Nothing that was committed after ${manifest.snapshotAt} is in it.`,
    `${jobs.requeued} jobs were in work, and are queued again; ${jobs.failed} had no attempts left, and are refunded.`,
    ...(mailsHeld > 0
      ? [`${mailsHeld} mails waited. They may have been sent since, and are held: npm run ops -- mails --send sends them.`]
      : []),
    ...(objects.absent > 0 ? [`${objects.absent} documents have no object in the backup; its objects.jsonl names them.`] : []),
  ];
}

/** Throws OpsError unless the backup may be put into the database and the store. Changes nothing. */
async function checkTargets({ manifest, replace, context: { databaseUrl: url, db, storage } }: Restore): Promise<void> {
  const later = manifest.migrations.filter((name) => !(name in migrations));
  if (later.length > 0) {
    throw new OpsError(
      `The backup has a newer schema than this version (${later.join(', ')}). Restore it with the version that made it, ${manifest.version}.`,
    );
  }
  const owner = await storage.owner();
  if (owner !== undefined && owner !== manifest.deployment) throw storeOfAnother(storage.location, owner, manifest);
  const { applied, unknown } = await getMigrationStatus(db);
  if (unknown > 0) throw new OpsError('The database is migrated by a newer version than this one. Restore into a new database.');
  if (applied > manifest.migrations.length) {
    throw new OpsError(`The backup has an older schema than the database (${manifest.migrations.at(-1)}). Restore into a new database.`);
  }
  await checkBeforeMigration({ url, replace }, manifest, applied);
}

/** Migrates the database to the schema of the backup. Throws OpsError if it has not got the tables of the backup then. */
async function prepareDatabase({ manifest, replace, context: { databaseUrl: url, db } }: Restore): Promise<void> {
  const shipped = Object.fromEntries(Object.entries(migrations).filter(([name]) => manifest.migrations.includes(name)));
  await migrate(db, { shipped });
  await checkTarget({ url, replace }, manifest);
}

/** Deletions for the restored rows are right only in the store of the same deployment. */
async function claimStore({ manifest, context: { storage } }: Restore): Promise<void> {
  const owner = await storage.claim(manifest.deployment);
  if (owner !== manifest.deployment) throw storeOfAnother(storage.location, owner, manifest);
}

function storeOfAnother(location: string, owner: string, { deployment }: Manifest): OpsError {
  return new OpsError(
    `The store ${location} belongs to deployment ${owner}, and the backup is of ${deployment}. Restore into an empty store.`,
  );
}

/** Takes back every running attempt of the restored rows, since no process works on them. */
async function takeBackAttempts(db: Db): Promise<Restored['jobs']> {
  const onFailure = (_jobId: string, error: unknown) => {
    throw error;
  };
  for (const taken = { requeued: 0, failed: 0 }; ; ) {
    const { requeued, failed } = await sweepLostAttempts(db, { timeoutMs: 0, limit: 500, onFailure });
    if (requeued + failed === 0) return taken;
    taken.requeued += requeued;
    taken.failed += failed;
  }
}
