import { createRequire } from 'node:module';
import type { Storage } from '../../adapters/storage/port.ts';
import type { Db } from '../../db/connect.ts';
import { getMigrationStatus } from '../../db/migrate.ts';
import { copyObjects } from '../backup/copy-objects.ts';
import { dumpDatabase } from '../backup/dump-database.ts';
import { keepLatest, nameOfBackup } from '../backup/keep-latest.ts';
import { type Manifest, writeManifest } from '../backup/manifest.ts';
import { openPlace } from '../backup/open-place.ts';
import { isOfFiles } from '../backup/part.ts';
import type { Place } from '../backup/place.ts';
import { createStopwatch } from '../backup/stopwatch.ts';
import { type CommandAtRest, parseCount, parseDirectory } from '../command.ts';
import { type OpsContext, OpsError, withDatabaseAtRest } from '../context.ts';
import { counted } from '../table.ts';

const { version } = createRequire(import.meta.url)('../../package.json') as { version: string };

const flags = { keep: { type: 'string' }, json: { type: 'boolean' } } as const;

export const backupCommand: CommandAtRest = {
  usage: 'backup DIR [--keep N] [--json]',
  summary:
    'Copy the database and the stored documents, as of one instant, into a new directory, or a prefix of a bucket (s3://BUCKET/PREFIX). The service may run. With --keep the directory is made in DIR, named by the time, and those of other than the latest N days are deleted.',
  flags,
  async runAtRest(args, tools) {
    const { directory, json = false, ...given } = parseDirectory('backup', args, flags);
    const keep = parseCount('keep', given.keep);
    const place = await openPlace(directory);
    await withDatabaseAtRest(tools, { makesDatabase: false }, async (context) => {
      if (keep === undefined) return await backUp(place, json, context);
      await backUp(place.in(await nameOfBackup(place, new Date())), json, context);
      for (const name of await keepLatest(place, keep)) tools.note(`${place.in(name).name} is deleted.`);
    });
  },
};

async function backUp(place: Place, json: boolean, context: OpsContext): Promise<void> {
  const { print, note } = context;
  await checkSource(context);
  await place.makeEmpty();
  const watch = createStopwatch<'database' | 'objects'>();
  const { tables, objects, snapshotAt, deployment } = await write(place, context, watch).catch(async (error) => {
    // What is unfinished may be what fills the disk. The place was empty before.
    await place.clear().catch((reason) => note(`${place.name} holds an unfinished backup: ${reason.message}`));
    throw isOfFiles(error) ? new OpsError(`The backup could not be written: ${error.message}`, { cause: error }) : error;
  });
  await noteBackup(context.db, snapshotAt);
  const rows = tables.reduce((sum, table) => sum + table.rows, 0);
  const { count, bytes, deleted, lost } = objects;
  if (deleted > 0) note(`${deleted} documents were deleted while their objects were copied; objects.jsonl names them.`);
  if (lost > 0) note(`WARNING: the store has lost the objects of ${lost} documents; objects.jsonl names them.`);
  const { tookMs } = watch;
  if (json)
    print(JSON.stringify({ directory: place.name, deployment, snapshotAt, rows, objects: { count, bytes, deleted, lost }, tookMs }));
  else
    print(
      `${place.name} holds ${counted(rows, 'row')} and ${counted(count, 'object')} (${bytes} bytes), as of ${snapshotAt}. It took ${watch.describe()}.`,
    );
}

/** Notes as of when the latest backup is, for the metric of its age. An old schema has no place for it. */
async function noteBackup(db: Db, snapshotAt: string): Promise<void> {
  const { pending } = await getMigrationStatus(db);
  if (pending.length === 0)
    await db
      .updateTable('deployment')
      .set({ backed_up_at: new Date(snapshotAt) })
      .execute();
}

type Watch = ReturnType<typeof createStopwatch<'database' | 'objects'>>;

async function write(place: Place, { databaseUrl, db, storage, note }: OpsContext, watch: Watch): Promise<Manifest> {
  const database = await watch.step('database', () => dumpDatabase(databaseUrl, place, note));
  const hasDocument = (key: string) => isReady(db, key);
  const objects = await watch.step('objects', () => copyObjects({ storage, place, hasDocument, note }));
  return await writeManifest(place, { version, finishedAt: new Date().toISOString(), ...database, objects });
}

async function isReady(db: Db, key: string): Promise<boolean> {
  const found = await db.selectFrom('document').select('id').where('object_key', '=', key).where('status', '=', 'ready').executeTakeFirst();
  return found !== undefined;
}

/** Throws OpsError unless there is a database of this service, and its store. */
async function checkSource({ db, storage }: { db: Db; storage: Storage }): Promise<void> {
  const { applied, unknown } = await getMigrationStatus(db);
  if (applied === 0) throw new OpsError('The database has no tables of this service.');
  if (unknown > 0) throw new OpsError('The database is migrated by a newer version than this one. Back it up with that version.');
  const { id: deployment } = await db.selectFrom('deployment').select('id').executeTakeFirstOrThrow();
  const owner = await storage.owner();
  if (owner !== undefined && owner !== deployment) {
    throw new OpsError(`The store ${storage.location} belongs to deployment ${owner}, and the database is of ${deployment}.`);
  }
}
