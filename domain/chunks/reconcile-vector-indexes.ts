import { sql } from 'kysely';
import { advisoryLocks } from '../../db/advisory-locks.ts';
import type { Db } from '../../db/connect.ts';
import type { ReconcileIndexesResult } from '../../workflows/inputs.ts';
import { Failures } from '../failures.ts';
import { keepHalfVectors } from './half-vectors.ts';
import {
  type IndexKey,
  indexed,
  indexName,
  indexPrefix,
  mostIndexedDimensions,
  mostScanned,
  oldestPgvector,
  parseIndexName,
} from './vector-index.ts';

/** Postgres looks at every index of a table when it plans a query; workspaces beyond the largest stay without. */
export const mostIndexes = 100;

/** What was found and done. */
export type ReconciledIndexes = NonNullable<ReconcileIndexesResult>;

/**
 * Makes the indexes that workspaces of more chunks than `largerThan` need, if the database has pgvector, and drops those that are no
 * longer needed. Takes as long as building an index does, and blocks no writes. Several processes may call it at once: one works, the
 * others get undefined. Needs a connection of its own, outside of a transaction. If the database refuses an index, the
 * workspace is scanned, the others get theirs, and this throws at the end.
 */
export async function reconcileVectorIndexes(db: Db, largerThan = mostScanned): Promise<ReconciledIndexes | undefined> {
  return await db.connection().execute(async (connection) => {
    // Not waited for: who waits for a lock holds a snapshot, and building an index waits for older snapshots.
    const { rows } = await sql<{ mine: boolean }>`select pg_try_advisory_lock(${advisoryLocks.vectorIndexes}) as mine`.execute(connection);
    if (!rows[0]?.mine) return undefined;
    try {
      const extension = await installPgvector(connection);
      if ('exact' in extension) return extension;
      await keepHalfVectors(connection);
      return { ...extension, ...(await matchWorkspaces(connection, largerThan)) };
    } finally {
      await sql`select pg_advisory_unlock(${advisoryLocks.vectorIndexes})`.execute(connection);
    }
  });
}

async function installPgvector(db: Db): Promise<{ exact: string } | { pgvector: string }> {
  const available = await findPgvector(db);
  if (!available) return { exact: 'the database has no pgvector' };
  if (available.installed_version === null) {
    try {
      await sql`create extension if not exists vector`.execute(db);
    } catch (error) {
      return { exact: `pgvector is there, but cannot be installed: ${error instanceof Error ? error.message : error}` };
    }
  }
  const version = (await findPgvector(db))?.installed_version ?? '0';
  if (isOlder(version)) return { exact: `pgvector ${version} is too old: ${oldestPgvector.join('.')} is needed` };
  return { pgvector: version };
}

async function findPgvector(db: Db): Promise<{ installed_version: string | null } | undefined> {
  const { rows } = await sql<{
    installed_version: string | null;
  }>`select installed_version from pg_available_extensions where name = 'vector'`.execute(db);
  return rows[0];
}

function isOlder(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major < oldestPgvector[0] || (major === oldestPgvector[0] && minor < oldestPgvector[1]);
}

async function matchWorkspaces(db: Db, largerThan: number): Promise<{ made: string[]; dropped: string[] }> {
  const [largest, indexes] = [await findLargeWorkspaces(db, largerThan), await findIndexes(db)];
  const failures = new Failures();
  const done = { made: [] as string[], dropped: [] as string[] };
  // An index that is not valid is left of a build or a drop that was interrupted: nobody else is at work now.
  const unwanted = [...indexes].filter(([name, valid]) => !valid || !largest.has(name)).map(([name]) => name);
  for (const name of unwanted)
    await failures.note(async () => {
      await sql`drop index concurrently if exists ${sql.id(name)}`.execute(db);
      done.dropped.push(name);
      indexes.delete(name);
    });
  const missing = [...largest]
    .filter(([name, chunks]) => chunks > largerThan && !indexes.has(name))
    .slice(0, mostIndexes - indexes.size)
    .map(([name]) => name);
  for (const name of missing)
    await failures.note(async () => {
      await makeIndex(db, name);
      done.made.push(name);
    });
  failures.throwFirst();
  return done;
}

async function makeIndex(db: Db, name: string): Promise<void> {
  const { expression, condition } = indexed(parseIndexName(name));
  await sql`create index concurrently if not exists ${sql.id(name)}
    on chunk using hnsw (${expression} halfvec_ip_ops) where ${condition}`.execute(db);
}

/**
 * How many chunks the workspaces have that may keep an index, by the name of that index, the largest first. Half of the limit
 * is enough to keep one, so that a workspace around it does not have its index dropped and made in turn. Reads the counts of
 * documents, and the newest chunk of each model, whose dimensions count where they have changed.
 */
async function findLargeWorkspaces(db: Db, largerThan: number): Promise<Map<string, number>> {
  const { rows } = await sql<IndexKey & { chunks: number }>`
    select distinct large.workspace_id as "workspaceId", cardinality(newest.embedding) as dimensions, large.chunks::int as chunks
    from (
      select workspace_id, sum(chunk_count) as chunks from document
      group by workspace_id having sum(chunk_count) > ${largerThan / 2}
    ) as large
    cross join lateral (select distinct model from chunk where workspace_id = large.workspace_id) as used
    cross join lateral (
      select embedding from chunk where workspace_id = large.workspace_id and model = used.model order by id desc limit 1
    ) as newest
    where cardinality(newest.embedding) <= ${mostIndexedDimensions}
    order by chunks desc
  `.execute(db);
  return new Map(rows.map(({ chunks, ...key }) => [indexName(key), chunks]));
}

/** The indexes that are there, by their names, and whether they are whole. */
async function findIndexes(db: Db): Promise<Map<string, boolean>> {
  const { rows } = await sql<{ name: string; valid: boolean }>`
    select relname as name, indisvalid as valid from pg_index join pg_class on pg_class.oid = indexrelid
    where indrelid = 'chunk'::regclass and starts_with(relname, ${indexPrefix})
    order by relname
  `.execute(db);
  return new Map(rows.map(({ name, valid }) => [name, valid]));
}
