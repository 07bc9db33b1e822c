import type pg from 'pg';

export interface Table {
  name: string;
  /** The columns that are stored. The database computes the others. */
  columns: string[];
}

const ofMigrations = ['kysely_migration', 'kysely_migration_lock', 'database_rule'];

/**
 * Not in a backup. Sessions: one that has been ended since would be valid again. Counts of requests. pgvector's vectors: a
 * restore makes them of the chunks, if the database has pgvector. The tables of migrations: a restore migrates first. Unlogged tables are not
 * in it either.
 */
const leftOut = ['session', 'rateLimit', 'chunk_vector', ...ofMigrations];

/** The rows that a service without users already has: its name for stores, and limits from its configuration. */
export const ofNewService = ['deployment', 'plan_limit', 'auth_limit'];

/** A table of so many rows takes long enough for a line of progress. */
export const manyRows = 100_000;

/** Every table but those of the migrations, with those that a backup leaves out. */
export async function listAllTables(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select relname::text as name from pg_class
     where relnamespace = current_schema()::regnamespace and relkind = 'r' and relname <> all ($1) order by relname`,
    [ofMigrations],
  );
  return rows.map(({ name }) => name);
}

/** The tables of a backup, each after those that it refers to. */
export async function listTables(client: pg.Client): Promise<Table[]> {
  const { rows: tables } = await client.query<Table>(
    `select relname::text as name, array_agg(attname::text order by attnum) as columns
     from pg_class join pg_attribute on attrelid = pg_class.oid and attnum > 0 and not attisdropped and attgenerated = ''
     where relnamespace = current_schema()::regnamespace and relkind = 'r' and relpersistence = 'p' and relname <> all ($1)
     group by relname order by relname`,
    [leftOut],
  );
  const { rows: references } = await client.query<{ from: string; to: string }>(
    `select referring.relname::text as from, referred.relname::text as to
     from pg_constraint join pg_class as referring on referring.oid = conrelid join pg_class as referred on referred.oid = confrelid
     where contype = 'f' and conrelid <> confrelid and referring.relnamespace = current_schema()::regnamespace`,
  );
  return inOrder(tables, references);
}

function inOrder(tables: Table[], references: { from: string; to: string }[]): Table[] {
  const ordered: Table[] = [];
  let left = tables;
  while (left.length > 0) {
    const names = new Set(left.map(({ name }) => name));
    const waiting = new Set(references.filter(({ to }) => names.has(to)).map(({ from }) => from));
    const ready = left.filter(({ name }) => !waiting.has(name));
    if (ready.length === 0) throw new Error(`These tables refer to each other in a circle: ${[...names].join(', ')}.`);
    ordered.push(...ready);
    left = left.filter(({ name }) => waiting.has(name));
  }
  return ordered;
}

/** A name as SQL writes it. */
export const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;

/** A table and its columns, as COPY takes them. */
export const copied = ({ name, columns }: Table) => `${quoted(name)} (${columns.map(quoted).join(', ')})`;

/** How COPY writes values as text, whatever the settings of the database or the user. */
export const textForm = `set datestyle = 'ISO, YMD'; set intervalstyle = 'postgres'; set extra_float_digits = 1; set bytea_output = 'hex';
  set timezone = 'UTC'; set client_encoding = 'UTF8'; set statement_timeout = 0; set idle_in_transaction_session_timeout = 0; set lock_timeout = 0`;
