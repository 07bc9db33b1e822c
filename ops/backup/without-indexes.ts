import type pg from 'pg';
import { indexPrefix } from '../../domain/search/pgvector.ts';
import { listAllTables, quoted } from './tables.ts';

interface Definition {
  table: string;
  name: string;
  /** The statement that creates it again, as Postgres writes it. */
  definition: string;
}

/**
 * Fills tables while they have no indexes, keys and references, and makes these again at the end: kept up row by row they would take
 * longer. Needs a transaction; fails if the rows violate a key or a reference. Vector indexes are not made again: `reconcileIndexes` does that.
 */
export async function withoutIndexes(client: pg.Client, fill: () => Promise<void>): Promise<void> {
  const tables = await listAllTables(client);
  const references = await listConstraints(client, tables, ['f']);
  const keys = await listConstraints(client, tables, ['p', 'u']);
  const indexes = await listIndexes(client, tables);
  for (const { table, name } of [...references, ...keys])
    await client.query(`alter table ${quoted(table)} drop constraint ${quoted(name)}`);
  for (const { name } of indexes) await client.query(`drop index ${quoted(name)}`);
  await fill();
  await client.query(`set local maintenance_work_mem = '256MB'`);
  const add = ({ table, name, definition }: Definition) =>
    client.query(`alter table ${quoted(table)} add constraint ${quoted(name)} ${definition}`);
  for (const key of keys) await add(key);
  for (const { name, definition } of indexes) if (!name.startsWith(indexPrefix)) await client.query(definition);
  for (const reference of references) await add(reference);
}

async function listConstraints(client: pg.Client, tables: string[], types: string[]): Promise<Definition[]> {
  const { rows } = await client.query<Definition>(
    `select relname::text as table, conname::text as name, pg_get_constraintdef(pg_constraint.oid) as definition
     from pg_constraint join pg_class on pg_class.oid = conrelid
     where relnamespace = current_schema()::regnamespace and relname = any ($1) and contype = any ($2::"char"[])
     order by relname, conname`,
    [tables, types],
  );
  return rows;
}

/** Those that no constraint makes. */
async function listIndexes(client: pg.Client, tables: string[]): Promise<Definition[]> {
  const { rows } = await client.query<Definition>(
    `select of.relname::text as table, index.relname::text as name, pg_get_indexdef(indexrelid) as definition
     from pg_index join pg_class as of on of.oid = indrelid join pg_class as index on index.oid = indexrelid
     where of.relnamespace = current_schema()::regnamespace and of.relname = any ($1)
       and not exists (select from pg_constraint where conindid = indexrelid)
     order by of.relname, index.relname`,
    [tables],
  );
  return rows;
}
