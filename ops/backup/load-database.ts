import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { from } from 'pg-copy-streams';
import { workflowIds } from '../../contract/intents/definitions.ts';
import { OpsError } from '../context.ts';
import type { Manifest } from './manifest.ts';
import { readPart } from './part.ts';
import type { Place } from './place.ts';
import { copied, listAllTables, listTables, manyRows, ofNewService, quoted, type Table, textForm } from './tables.ts';
import { withoutIndexes } from './without-indexes.ts';

/** Skips the numbers that requests may have taken since the backup: a checkout that is still open at Stripe must not count as newer. */
const numbersSince = 1_000_000;

interface Target {
  url: string;
  /** Whether existing rows may be deleted. */
  replace: boolean;
}

/**
 * Throws OpsError unless a database may be migrated and filled with a backup, and changes nothing: it has no tables (`applied` is 0), or is
 * a service's and empty, or is to be replaced and of the same deployment; and no service is connected. Its schema may be older than that of
 * the backup.
 */
export async function checkBeforeMigration(target: Target, manifest: Manifest, applied: number): Promise<void> {
  await withClient(target.url, async (client) => {
    if (applied > 0) return await assertMayBeEmptied(client, await listTables(client), manifest, target);
    const [table] = await listAllTables(client);
    if (table !== undefined) {
      throw new OpsError(`The database has tables that are not of this service, such as ${table}. Restore into a new database.`);
    }
  });
}

/** Throws OpsError unless a migrated database has the tables of the backup, and may be filled as {@link checkBeforeMigration} says. */
export async function checkTarget(target: Target, manifest: Manifest): Promise<void> {
  await withClient(target.url, async (client) => assertFillable(client, await listTables(client), manifest, target));
}

/**
 * Fills a migrated database with the tables of a backup, in one transaction: a failure leaves it as it was. References are checked;
 * triggers do not run, since what they would write is in the backup. Mails are held, since they may have been sent after the backup. Needs
 * the owner of the tables, no superuser. Throws OpsError as {@link checkTarget}, or if Postgres refuses.
 */
export async function loadDatabase(target: Target, place: Place, manifest: Manifest, note: (line: string) => void): Promise<void> {
  await withClient(target.url, async (client) => {
    const tables = await listTables(client);
    await client.query('begin');
    // This also keeps other writers out until the end.
    for (const { name } of tables) await client.query(`alter table ${quoted(name)} disable trigger user`);
    await assertFillable(client, tables, manifest, target);
    await client.query('drop table if exists chunk_vector');
    await client.query(`truncate ${(await listAllTables(client)).map(quoted).join(', ')}`);
    await withoutIndexes(client, async () => {
      for (const { name } of tables) await loadTable(client, place, manifest, name, note);
    });
    await holdMails(client, tables);
    for (const { name } of tables) await client.query(`alter table ${quoted(name)} enable trigger user`);
    for (const { name, lastValue } of manifest.sequences) {
      const since = name === 'subscription_fetch' ? numbersSince : 0;
      await client.query('select setval($1::regclass, $2::bigint + $3)', [quoted(name), lastValue, since]);
    }
    await client.query('commit');
    await client.query('analyze');
  });
}

/** Takes the mails out of the outbox and marks them as held. Old schemas lack the column of the mark. */
async function holdMails(client: pg.Client, tables: Table[]): Promise<void> {
  await client.query('delete from outbox where starts_with(workflow_id, $1)', [workflowIds.sendMail('')]);
  const isNoted = tables.some(({ name, columns }) => name === 'mail' && columns.includes('stopped_at'));
  if (isNoted) await client.query('update mail set stopped_at = now() where stopped_at is null');
}

async function loadTable(client: pg.Client, place: Place, manifest: Manifest, name: string, note: (line: string) => void) {
  const part = manifest.tables.find(({ table }) => table === name);
  if (!part) return;
  const stream = client.query(from(`copy ${copied({ name, columns: part.columns })} from stdin`));
  await pipeline(readPart(place, part), stream);
  if (stream.rowCount !== part.rows) throw new OpsError(`${part.file} has ${stream.rowCount} rows, not ${part.rows} as the manifest says.`);
  if (part.rows >= manyRows) note(`${name}: ${part.rows} rows`);
}

async function assertFillable(client: pg.Client, tables: Table[], manifest: Manifest, target: Target): Promise<void> {
  const theirs = manifest.tables.map(({ table, columns }) => `${table}: ${columns.join(', ')}`).sort();
  const ours = tables.map(({ name, columns }) => `${name}: ${columns.join(', ')}`).sort();
  const different = [...theirs.filter((line) => !ours.includes(line)), ...ours.filter((line) => !theirs.includes(line))];
  if (different.length > 0) throw new OpsError(`The tables of the database are not those of the backup: ${different.join('; ')}.`);
  await assertMayBeEmptied(client, tables, manifest, target);
}

async function assertMayBeEmptied(client: pg.Client, tables: Table[], manifest: Manifest, { replace }: Target): Promise<void> {
  const filled = await findFilled(client, tables);
  if (filled !== undefined && !replace) {
    throw new OpsError(`The database is not empty: ${filled} has rows. Restore into a new database, or --replace what is in this one.`);
  }
  if (filled !== undefined) await assertSameDeployment(client, tables, manifest);
  await assertNoService(client);
}

/** A table with rows that is empty in a new service. */
async function findFilled(client: pg.Client, tables: Table[]): Promise<string | undefined> {
  for (const { name } of tables) {
    if (ofNewService.includes(name)) continue;
    const { rowCount } = await client.query(`select from ${quoted(name)} limit 1`);
    if (rowCount) return name;
  }
  return undefined;
}

async function assertSameDeployment(client: pg.Client, tables: Table[], manifest: Manifest): Promise<void> {
  // Old schemas have no name.
  const isNamed = tables.some(({ name }) => name === 'deployment');
  const { rows } = isNamed ? await client.query<{ id: string }>('select id from deployment') : { rows: [] };
  const deployment = rows[0]?.id;
  if (deployment === manifest.deployment) return;
  throw new OpsError(
    `The backup is of deployment ${manifest.deployment}, and the database of ${deployment ?? 'none'}. Restore into a new database.`,
  );
}

/** A running service would write between the check and the end of the restore; its rows would be lost, or mixed with restored ones. */
async function assertNoService(client: pg.Client): Promise<void> {
  const { rows: services } = await client.query<{ name: string }>(
    `select distinct application_name as name from pg_stat_activity
     where datname = current_database() and application_name ~ '^sheaf (api|worker|listen|maintenance)'`,
  );
  if (services.length > 0) throw new OpsError(`The service runs (${services.map(({ name }) => name).join(', ')}). Stop it first.`);
}

async function withClient(url: string, use: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: url, application_name: 'sheaf restore', keepAlive: true });
  client.on('error', () => {});
  await client.connect();
  try {
    await client.query(textForm);
    await use(client);
  } catch (error) {
    if (error instanceof pg.DatabaseError) throw new OpsError(`Postgres refused: ${error.message} (${error.code})`, { cause: error });
    throw error;
  } finally {
    await client.end();
  }
}
