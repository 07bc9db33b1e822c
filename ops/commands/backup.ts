import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import type { Storage } from '../../adapters/storage/port.ts';
import { isCode } from '../../adapters/storage/write-once.ts';
import type { Db } from '../../db/connect.ts';
import { getMigrationStatus } from '../../db/migrate.ts';
import { copyObjects } from '../backup/copy-objects.ts';
import { dumpDatabase } from '../backup/dump-database.ts';
import { keepLatest, nameOfBackup } from '../backup/keep-latest.ts';
import { type Manifest, writeManifest } from '../backup/manifest.ts';
import { isOfFiles } from '../backup/part.ts';
import { createStopwatch } from '../backup/stopwatch.ts';
import { type CommandAtRest, parseCount, parseDirectory } from '../command.ts';
import { type OpsContext, OpsError, withDatabaseAtRest } from '../context.ts';
import { counted } from '../table.ts';

const { version } = createRequire(import.meta.url)('../../package.json') as { version: string };

const flags = { keep: { type: 'string' }, json: { type: 'boolean' } } as const;

export const backupCommand: CommandAtRest = {
  usage: 'backup DIR [--keep N] [--json]',
  summary:
    'Copy the database and the stored documents, as of one instant, into a new directory. The service may run. With --keep the directory is made in DIR, named by the time, and the oldest beyond N are deleted.',
  flags,
  async runAtRest(args, tools) {
    const { directory, json = false, ...given } = parseDirectory('backup', args, flags);
    const keep = parseCount('keep', given.keep);
    const path = keep === undefined ? resolve(directory) : join(resolve(directory), nameOfBackup(new Date()));
    await withDatabaseAtRest(tools, { makesDatabase: false }, async (context) => {
      await backUp(path, json, context);
      if (keep !== undefined) for (const deleted of await keepLatest(path, keep)) tools.note(`${deleted} is deleted.`);
    });
  },
};

async function backUp(path: string, json: boolean, context: OpsContext): Promise<void> {
  const { print, note } = context;
  await checkSource(context);
  await makeEmpty(path);
  const watch = createStopwatch<'database' | 'objects'>();
  const { tables, objects, snapshotAt, deployment } = await write(path, context, watch).catch(async (error) => {
    await removeUnfinished(path);
    throw isOfFiles(error) ? new OpsError(`The backup could not be written: ${error.message}`, { cause: error }) : error;
  });
  const rows = tables.reduce((sum, table) => sum + table.rows, 0);
  const { count, bytes, deleted, lost } = objects;
  if (deleted > 0) note(`${deleted} documents were deleted while their objects were copied; objects.jsonl names them.`);
  if (lost > 0) note(`WARNING: the store has lost the objects of ${lost} documents; objects.jsonl names them.`);
  const { tookMs } = watch;
  if (json) print(JSON.stringify({ directory: path, deployment, snapshotAt, rows, objects: { count, bytes, deleted, lost }, tookMs }));
  else
    print(
      `${path} holds ${counted(rows, 'row')} and ${counted(count, 'object')} (${bytes} bytes), as of ${snapshotAt}. It took ${watch.describe()}.`,
    );
}

type Watch = ReturnType<typeof createStopwatch<'database' | 'objects'>>;

async function write(path: string, { databaseUrl, db, storage, note }: OpsContext, watch: Watch): Promise<Manifest> {
  const database = await watch.step('database', () => dumpDatabase(databaseUrl, path, note));
  const hasDocument = (key: string) => isReady(db, key);
  const objects = await watch.step('objects', () => copyObjects({ storage, directory: path, hasDocument, note }));
  return await writeManifest(path, { version, finishedAt: new Date().toISOString(), ...database, objects });
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

async function makeEmpty(path: string): Promise<void> {
  const entries = await makeDirectory(path)
    .then(() => readdir(path))
    .catch((error: Error) => {
      throw new OpsError(`A backup cannot be written there: ${error.message}`, { cause: error });
    });
  if (entries.length > 0) throw new OpsError(`${path} is not empty. A backup needs a new directory.`);
}

/**
 * Makes a directory and those above it. Node's own way (`recursive`) never ends where the directory above is there and takes none, as
 * `/proc` does.
 */
async function makeDirectory(path: string): Promise<void> {
  const make = () => mkdir(path, { mode: 0o700 });
  const above = dirname(path);
  await make().catch(async (error) => {
    if (isCode(error, 'EEXIST') && (await stat(path)).isDirectory()) return;
    if (!isCode(error, 'ENOENT') || above === path) throw error;
    await makeDirectory(above);
    await make();
  });
}

/** Removes the files of an unfinished backup, which may be what fills the disk. The directory was empty before. */
async function removeUnfinished(path: string): Promise<void> {
  for (const name of await readdir(path)) await rm(join(path, name), { recursive: true, force: true });
}
