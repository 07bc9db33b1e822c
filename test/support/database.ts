import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { inheritedEnvironment, loadTestServices } from '../../base/config/local.ts';
import { createDb, createPool, type Db } from '../../db/connect.ts';
import { migrate } from '../../db/migrate.ts';
import { testPostgres } from './stack.ts';

const templateLock = 7_243_300;

/** A database of one test file. */
export interface TestDatabase {
  /** Leads to Postgres itself. */
  url: string;
  /** The variables by which a program uses it, through the pooler if the run has one. */
  env: { DATABASE_URL: string; DATABASE_DIRECT_URL?: string };
  pool: pg.Pool;
  db: Db;
  /** Ends the pool and deletes the database. Call it in `after`. */
  drop(): Promise<void>;
}

interface TestDatabaseOptions {
  poolSize?: number;
  /** What every session in the database begins with, such as its `timezone`. */
  settings?: Record<string, string>;
  /** Statements that prepare an empty database before it is migrated. One copy is kept for each `name`. */
  prepared?: { name: string; statements: string[] };
}

/** Makes a database with all migrations applied, as a copy of one that is migrated once per test run. */
export async function createTestDatabase(options: TestDatabaseOptions = {}): Promise<TestDatabase> {
  const { prepared = { name: 'plain', statements: [] }, settings = {} } = options;
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await withAdmin(async (admin) => {
    // A database that someone is connected to cannot be copied: makers and copiers take turns.
    await admin.query('select pg_advisory_lock($1)', [templateLock]);
    const template = await ensureTemplate(admin, prepared, settings);
    await admin.query(`create database ${name} template ${template}`);
    await set(admin, name, settings);
  });
  return await open(name, options.poolSize ?? 10);
}

/** Makes a database with nothing in it. */
export async function createEmptyDatabase(options: { poolSize?: number } = {}): Promise<TestDatabase> {
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await withAdmin((admin) => admin.query(`create database ${name} template template0`));
  return await open(name, options.poolSize ?? 10);
}

/** A test's own transaction, which may wait for the service that it tests. */
// It holds a lock in an idle transaction until it has seen who waits for it, which takes long on a busy machine.
const bounds = { statementMs: 120_000, transactionMs: 120_000, idleMs: 120_000 };

async function open(name: string, poolSize: number): Promise<TestDatabase> {
  const url = await urlOf(name);
  const poolerUrl = throughPooler(url);
  const pool = createPool({ url: poolerUrl ?? url, pooled: poolerUrl !== undefined, poolSize, name, work: 'worker', bounds });
  return {
    url,
    env: poolerUrl === undefined ? { DATABASE_URL: url } : { DATABASE_URL: poolerUrl, DATABASE_DIRECT_URL: url },
    pool,
    db: createDb(pool),
    drop: async () => {
      await pool.end();
      await withAdmin((admin) => admin.query(`drop database if exists ${name} with (force)`));
    },
  };
}

function throughPooler(directUrl: string): string | undefined {
  const { poolerAddress } = loadTestServices(inheritedEnvironment());
  if (poolerAddress === undefined) return undefined;
  const url = new URL(directUrl);
  url.host = poolerAddress;
  return url.href;
}

type Prepared = NonNullable<TestDatabaseOptions['prepared']>;

async function ensureTemplate(admin: pg.Client, { name, statements }: Prepared, settings: Record<string, string>): Promise<string> {
  const template = `sheaf_template_${name}`;
  const existing = await admin.query('select 1 from pg_database where datname = $1', [template]);
  if (existing.rowCount) return template;
  const unfinished = `${template}_new`;
  await admin.query(`drop database if exists ${unfinished}`);
  await admin.query(`create database ${unfinished} template template0`);
  await set(admin, unfinished, settings);
  const pool = createPool({ url: await urlOf(unfinished), poolSize: 2, work: 'migration' });
  const db = createDb(pool);
  try {
    for (const statement of statements) await pool.query(statement);
    await migrate(db);
  } finally {
    await db.destroy();
  }
  await admin.query(`alter database ${unfinished} rename to ${template}`);
  return template;
}

async function set(admin: pg.Client, database: string, settings: Record<string, string>): Promise<void> {
  for (const [setting, value] of Object.entries(settings)) await admin.query(`alter database ${database} set ${setting} = ${value}`);
}

async function urlOf(database: string): Promise<string> {
  const url = new URL((await testPostgres()).adminUrl);
  url.pathname = `/${database}`;
  return url.href;
}

async function withAdmin<T>(use: (admin: pg.Client) => Promise<T>): Promise<T> {
  const admin = new pg.Client({ connectionString: (await testPostgres()).adminUrl });
  await admin.connect();
  try {
    return await use(admin);
  } finally {
    await admin.end();
  }
}
