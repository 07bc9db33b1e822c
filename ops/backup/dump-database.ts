import pg from 'pg';
import { to } from 'pg-copy-streams';
import type { Manifest, TablePart } from './manifest.ts';
import { writePart } from './part.ts';
import type { Place } from './place.ts';
import { copied, listTables, manyRows, textForm } from './tables.ts';

/** The documents of the snapshot whose objects are to be copied; removed at the end. */
export const objectsToCopy = 'objects.unfinished';

/**
 * Writes every table of the database into a place, all as of one instant, and the list of objects that the rows name. Writers go on
 * meanwhile. `note` takes lines of progress.
 */
export async function dumpDatabase(
  url: string,
  place: Place,
  note: (line: string) => void,
): Promise<Pick<Manifest, 'snapshotAt' | 'deployment' | 'migrations' | 'tables' | 'sequences'>> {
  const client = new pg.Client({ connectionString: url, application_name: 'sheaf backup', keepAlive: true });
  client.on('error', () => {});
  await client.connect();
  try {
    await client.query(textForm);
    await client.query('begin isolation level repeatable read read only');
    const snapshotAt = await readOne<Date>(client, 'select now() as value');
    const deployment = await readOne<string>(client, 'select id as value from deployment');
    const migrations = await readOne<string[]>(
      client,
      `select coalesce(array_agg(name::text order by name), '{}') as value from kysely_migration`,
    );
    const tables: TablePart[] = [];
    for (const table of await listTables(client)) {
      const stream = client.query(to(`copy ${copied(table)} to stdout`));
      const part = await writePart(place, `tables/${table.name}.copy`, stream);
      tables.push({ table: table.name, columns: table.columns, rows: stream.rowCount, ...part });
      if (stream.rowCount >= manyRows) note(`${table.name}: ${stream.rowCount} rows, ${part.bytes} bytes`);
    }
    const documents = client.query(to('copy (select object_key, status from document order by id) to stdout'));
    await writePart(place, objectsToCopy, documents);
    // Sequences have no snapshot. Their present values are at least those in the rows.
    const { rows: sequences } = await client.query<Manifest['sequences'][number]>(
      `select sequencename::text as name, last_value::text as "lastValue" from pg_sequences
       where schemaname = current_schema() and last_value is not null order by sequencename`,
    );
    return { snapshotAt: snapshotAt.toISOString(), deployment, migrations, tables, sequences };
  } finally {
    await client.end();
  }
}

async function readOne<T>(client: pg.Client, query: string): Promise<T> {
  const { rows } = await client.query<{ value: T }>(query);
  return (rows[0] as { value: T }).value;
}
