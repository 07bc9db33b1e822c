import { sql } from 'kysely';
import type { ReconcileIndexesResult } from '../../contract/intents/inputs.ts';
import { advisoryLocks } from '../../db/advisory-locks.ts';
import type { Db } from '../../db/connect.ts';
import { Failures } from '../failures.ts';
import { type IndexKey, indexed, indexName, indexPrefix, maxScanned } from './pgvector.ts';

/** The maximum number of indexes, since Postgres considers each when it plans a query. Workspaces beyond the largest have none. */
export const maxIndexes = 100;

/** The maximum number of dimensions that pgvector indexes in a `halfvec`. */
const maxIndexedDimensions = 4_000;

/** The outcome of a reconciliation. */
export type ReconciledIndexes = NonNullable<ReconcileIndexesResult>;

/**
 * Creates the table of vectors if pgvector is installed, creates the indexes that workspaces with more than `largerThan` chunks need, and
 * drops the others. Takes as long as an index build, and blocks no writes. Of concurrent calls one does the work, and the others return
 * undefined. If the database refuses an index, the others are still made, and this throws at the end.
 */
export async function reconcileVectorIndexes(db: Db, largerThan = maxScanned): Promise<ReconciledIndexes | undefined> {
  return await db.connection().execute(async (connection) => {
    // Does not wait for the lock: a waiting session holds a snapshot, and an index build waits for older snapshots.
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

/** The version of pgvector, or the reason why every search is exact. */
async function adoptPgvector(db: Db): Promise<{ exact: string } | { pgvector: string }> {
  const { rows } = await sql<{ version: string | null; problem: string | null }>`select version, problem from adopt_pgvector()`.execute(db);
  const { version, problem } = rows[0] ?? {};
  return version ? { pgvector: version } : { exact: problem ?? 'the database has no pgvector' };
}

async function matchWorkspaces(db: Db, largerThan: number): Promise<{ made: string[]; dropped: string[] }> {
  const [largest, indexes] = [await findLargeWorkspaces(db, largerThan), await findIndexes(db)];
  const failures = new Failures();
  const done = { made: [] as string[], dropped: [] as string[] };
  // An invalid index is left from an interrupted build or drop, since nobody else is at work now.
  for (const [name] of [...indexes].filter(([name, valid]) => !valid || !largest.has(name)))
    await failures.note(async () => {
      await sql`drop index concurrently if exists ${sql.id(name)}`.execute(db);
      done.dropped.push(name);
      indexes.delete(name);
    });
  const missing = [...largest].filter(([name, { chunks }]) => chunks > largerThan && !indexes.has(name));
  for (const [name, key] of missing.slice(0, maxIndexes - indexes.size))
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
 * The workspaces that may have an index, by its name, the largest first. A workspace keeps its index down to half of the limit, so that one
 * near the limit does not alternate.
 */
async function findLargeWorkspaces(db: Db, largerThan: number): Promise<Map<string, IndexKey & { chunks: number }>> {
  const { rows } = await sql<IndexKey & { chunks: number }>`
    select document.workspace_id as "workspaceId", dimensions, sum(chunk_count)::int as chunks
    from document join document_index on document_id = document.id
    where dimensions <= ${maxIndexedDimensions}
    group by document.workspace_id, dimensions having sum(chunk_count) > ${largerThan / 2}
    order by chunks desc
  `.execute(db);
  return new Map(rows.map((row) => [indexName(row), row]));
}

/** The existing indexes by name, and whether each is valid. */
async function findIndexes(db: Db): Promise<Map<string, boolean>> {
  const { rows } = await sql<{ name: string; valid: boolean }>`
    select relname as name, indisvalid as valid from pg_index join pg_class on pg_class.oid = indexrelid
    where indrelid = 'chunk_vector'::regclass and starts_with(relname, ${indexPrefix})
    order by relname
  `.execute(db);
  return new Map(rows.map(({ name, valid }) => [name, valid]));
}
