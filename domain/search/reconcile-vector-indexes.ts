import { sql } from 'kysely';
import { advisoryLocks } from '../../db/advisory-locks.ts';
import type { Db } from '../../db/connect.ts';
import type { ReconcileIndexesResult } from '../../workflows/inputs.ts';
import { Failures } from '../failures.ts';
import { type IndexKey, indexed, indexName, indexPrefix, mostScanned } from './pgvector.ts';

/** Postgres looks at every index of a table when it plans a query; workspaces beyond the largest stay without. */
export const mostIndexes = 100;

/** pgvector indexes a `halfvec` of no more dimensions. */
const mostIndexedDimensions = 4_000;

/** What was found and done. */
export type ReconciledIndexes = NonNullable<ReconcileIndexesResult>;

/**
 * Makes the table of vectors if pgvector is there by now, then the indexes that workspaces of more chunks than `largerThan` need, and drops those
 * that are no longer needed. Takes as long as building an index does, and blocks no writes. Several processes may call it at once: one works,
 * the others get undefined. If the database refuses an index, the workspace is scanned, the others get theirs, and this throws at the end.
 */
export async function reconcileVectorIndexes(db: Db, largerThan = mostScanned): Promise<ReconciledIndexes | undefined> {
  return await db.connection().execute(async (connection) => {
    // Not waited for: who waits for a lock holds a snapshot, and building an index waits for older snapshots.
    const { rows } = await sql<{ mine: boolean }>`select pg_try_advisory_lock(${advisoryLocks.vectorIndexes}) as mine`.execute(connection);
    if (!rows[0]?.mine) return undefined;
    try {
      const adopted = await adoptPgvector(connection);
      return 'exact' in adopted ? adopted : { ...adopted, ...(await matchWorkspaces(connection, largerThan)) };
    } finally {
      await sql`select pg_advisory_unlock(${advisoryLocks.vectorIndexes})`.execute(connection);
    }
  });
}

/** Its version; or why every search is exact. */
async function adoptPgvector(db: Db): Promise<{ exact: string } | { pgvector: string }> {
  const { rows } = await sql<{ version: string | null; problem: string | null }>`select version, problem from adopt_pgvector()`.execute(db);
  const { version, problem } = rows[0] ?? {};
  return version ? { pgvector: version } : { exact: problem ?? 'the database has no pgvector' };
}

async function matchWorkspaces(db: Db, largerThan: number): Promise<{ made: string[]; dropped: string[] }> {
  const [largest, indexes] = [await findLargeWorkspaces(db, largerThan), await findIndexes(db)];
  const failures = new Failures();
  const done = { made: [] as string[], dropped: [] as string[] };
  // An index that is not valid is left of a build or a drop that was interrupted: nobody else is at work now.
  for (const [name] of [...indexes].filter(([name, valid]) => !valid || !largest.has(name)))
    await failures.note(async () => {
      await sql`drop index concurrently if exists ${sql.id(name)}`.execute(db);
      done.dropped.push(name);
      indexes.delete(name);
    });
  const missing = [...largest].filter(([name, { chunks }]) => chunks > largerThan && !indexes.has(name));
  for (const [name, key] of missing.slice(0, mostIndexes - indexes.size))
    await failures.note(async () => {
      const { expression, condition } = indexed(key);
      await sql`create index concurrently if not exists ${sql.id(name)}
        on chunk_vector using hnsw (${expression} halfvec_ip_ops) where ${condition}`.execute(db);
      done.made.push(name);
    });
  failures.throwFirst();
  return done;
}

/**
 * The workspaces that may keep an index, by the name of that index, the largest first. Half of the limit is enough to keep one, so that a
 * workspace around it does not have its index dropped and made in turn.
 */
async function findLargeWorkspaces(db: Db, largerThan: number): Promise<Map<string, IndexKey & { chunks: number }>> {
  const { rows } = await sql<IndexKey & { chunks: number }>`
    select document.workspace_id as "workspaceId", dimensions, sum(chunk_count)::int as chunks
    from document join document_index on document_id = document.id
    where dimensions <= ${mostIndexedDimensions}
    group by document.workspace_id, dimensions having sum(chunk_count) > ${largerThan / 2}
    order by chunks desc
  `.execute(db);
  return new Map(rows.map((row) => [indexName(row), row]));
}

/** The indexes that are there, by their names, and whether they are whole. */
async function findIndexes(db: Db): Promise<Map<string, boolean>> {
  const { rows } = await sql<{ name: string; valid: boolean }>`
    select relname as name, indisvalid as valid from pg_index join pg_class on pg_class.oid = indexrelid
    where indrelid = 'chunk_vector'::regclass and starts_with(relname, ${indexPrefix})
    order by relname
  `.execute(db);
  return new Map(rows.map(({ name, valid }) => [name, valid]));
}
