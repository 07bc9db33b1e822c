import { expect } from 'chai';
import { type Kysely, sql } from 'kysely';
import { advisoryLocks } from '../../db/advisory-locks.ts';
import { createDb, createPool, type Db } from '../../db/connect.ts';
import { getMigrationStatus, migrate } from '../../db/migrate.ts';
import { migrations, type ShippedMigration } from '../../db/migrations/index.ts';
import { createIndexes } from '../../db/migrations/online.ts';
import { createEmptyDatabase, type TestDatabase } from '../support/database.ts';
import { until } from '../support/processes.ts';
import { filledTables } from './support/fill-tables.ts';
import { lastOfFirstRelease, migrateUnderLoad } from './support/migrate-under-load.ts';

describe('A migration of large tables', () => {
  let database: TestDatabase;
  let db: Db;

  beforeEach(async () => {
    database = await createEmptyDatabase();
    db = createDb(createPool({ url: database.url, poolSize: 4, bounds: { statementMs: 0, transactionMs: 0 } }));
  });
  afterEach(async () => {
    await db.destroy();
    await database.drop();
  });

  const firstRelease = Object.fromEntries(Object.entries(migrations).filter(([name]) => name <= lastOfFirstRelease));
  const later = (name: string, migration: ShippedMigration) => ({ ...firstRelease, [name]: migration });
  const run = (statement: string) => (trx: Kysely<unknown>) => sql.raw(statement).execute(trx) as unknown as Promise<void>;

  /** Whether a statement has waited for a lock for longer than a lock may be waited for. */
  async function hasWaited(statement: string): Promise<boolean> {
    const { rows } = await sql`
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
        and query like ${statement} and query_start < clock_timestamp() - interval '300 ms'
    `.execute(database.db);
    return rows.length > 0;
  }

  /** Makes the database note whatever reads or writes a whole table while it keeps others from writing to it, or to its rows. */
  async function noteBlockingWork(): Promise<void> {
    await sql`create table blocking_work (what text not null)`.execute(db);
    const note = (name: string, body: string) =>
      sql.raw(`create function ${name}() returns event_trigger language plpgsql as $$ ${body} $$`).execute(db);
    const tables = filledTables.map((table) => `'${table}'`).join(', ');
    await note(
      'note_rewrite',
      `begin
        if pg_event_trigger_table_rewrite_oid()::regclass::text in (${tables}) then
          insert into blocking_work values ('rewrites ' || pg_event_trigger_table_rewrite_oid()::regclass);
        end if;
      end`,
    );
    await sql`create event trigger note_rewrite on table_rewrite execute function note_rewrite()`.execute(db);
    // A statement that reads a table, such as the check of a constraint or the build of an index, counts as a scan of it.
    const scans = `select jsonb_object_agg(relname, seq_scan) from pg_stat_xact_user_tables where relname in (${tables})`;
    await note('count_scans', `begin perform set_config('blocking.scans', (${scans})::text, false); end`);
    await note(
      'note_scan',
      `declare
        before jsonb := current_setting('blocking.scans')::jsonb;
        statement text := regexp_replace(current_query(), '\\s+', ' ', 'g');
      begin
        -- Neither keeps anybody from writing.
        if statement !~* '^ ?(create index concurrently|alter table \\w+ validate constraint)' then
          insert into blocking_work
            select 'reads ' || key || ': ' || statement from jsonb_each_text((${scans})) where value::bigint > (before ->> key)::bigint;
        end if;
      end`,
    );
    // It keeps the locks of all rows to its end. The tables are empty here, so the trigger tells of the statement, whatever it finds.
    await sql`
      create function note_rows() returns trigger language plpgsql as $$
      begin
        insert into blocking_work values (lower(tg_op) || 's rows of ' || tg_table_name);
        return null;
      end $$
    `.execute(db);
    for (const table of filledTables) {
      await sql`create trigger note_rows after update or delete on ${sql.table(table)} execute function note_rows()`.execute(db);
    }
    await sql`create event trigger count_scans on ddl_command_start execute function count_scans()`.execute(db);
    await sql`create event trigger note_scan on ddl_command_end execute function note_scan()`.execute(db);
  }

  async function blockingWork(): Promise<string[]> {
    const { rows } = await sql<{ what: string }>`select what from blocking_work`.execute(db);
    return rows.map(({ what }) => what);
  }

  it('neither rewrites one nor reads one whole while nobody may write, in any that is shipped', async () => {
    await migrate(db, { shipped: firstRelease });
    await noteBlockingWork();
    await migrate(db);
    expect([...new Set(await blockingWork())].slice(0, 5)).to.deep.equal([]);
    expect((await getMigrationStatus(db)).pending).to.deep.equal([]);
  });

  it('is found if it does', async () => {
    const bad: Record<string, string> = {
      rewrites: `alter table job alter column attempts type bigint`,
      reads: `alter table audit_entry add constraint has_action check (action <> '')`,
      builds: `create index job_credits on job (credits)`,
      updates: `update job set attempts = attempts + 1`,
      deletes: `delete from session`,
    };
    await migrate(db, { shipped: firstRelease });
    await noteBlockingWork();
    for (const [name, statement] of Object.entries(bad)) {
      await sql`delete from blocking_work`.execute(db);
      await migrate(db, { shipped: later('9999-bad', { up: run(statement) }) });
      expect(await blockingWork(), name).to.not.have.length(0);
      await sql`delete from kysely_migration where name = '9999-bad'`.execute(db);
    }
  });

  it('gives way to who uses the table, so that nobody else waits behind it', async () => {
    await migrate(db, { shipped: firstRelease });
    const reader = await db.startTransaction().execute();
    await reader.selectFrom('job').select('id').execute();
    let busy = 0;
    const shipped = later('9999-column', { up: run('alter table job add column color text') });
    const migrating = migrate(db, { shipped, onBusy: () => busy++ });
    const isWaiting = async () => {
      const { rows } = await sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(
        database.db,
      );
      return rows.length > 0;
    };
    await until(isWaiting);
    // The reader goes on until this write is through: it would never be, if the migration waited for the reader.
    await sql`update job set attempts = 1 where id = 'none'`.execute(database.db);
    await reader.commit().execute();
    await migrating;
    expect(busy).to.be.greaterThan(0);
    expect((await getMigrationStatus(db)).unknown).to.equal(1);
  });

  it('that was interrupted while it built an index builds it again', async () => {
    await migrate(db, { shipped: firstRelease });
    await db
      .insertInto('organization')
      .values({ id: 'one', name: 'One', slug: 'one', createdAt: new Date() } as never)
      .execute();
    await db
      .insertInto('organization')
      .values({ id: 'two', name: 'One', slug: 'two', createdAt: new Date() } as never)
      .execute();
    // Fails, and leaves an index that nothing uses.
    const failed = await sql`create unique index concurrently by_name on organization (name)`.execute(db).catch((error: Error) => error);
    expect(failed).to.be.instanceOf(Error);
    const online = { online: true, up: (on: Kysely<unknown>) => createIndexes(on, { by_name: 'on organization (name)' }) };
    await migrate(db, { shipped: later('9999-index', online) });
    const { rows } = await sql`select from pg_index where indexrelid = 'by_name'::regclass and indisvalid`.execute(db);
    expect(rows).to.have.length(1);
  });

  it('builds an index although another transaction is open for longer than a lock may be waited for', async () => {
    await migrate(db, { shipped: firstRelease });
    const writer = await db.startTransaction().execute();
    await sql`update organization set name = 'open'`.execute(writer);
    await db.connection().execute(async (held) => {
      await sql`set lock_timeout = '100ms'`.execute(held);
      const building = createIndexes(held as never, { by_name: 'on organization (name)' });
      await Promise.race([building, until(() => hasWaited('create index%'))]).finally(() => writer.commit().execute());
      await building;
      const { rows } = await sql`
        select indisvalid, current_setting('lock_timeout') as bound from pg_index where indexrelid = 'by_name'::regclass
      `.execute(held);
      expect(rows).to.deep.equal([{ indisvalid: true, bound: '100ms' }]);
    });
  });

  it('waits for another process that applies some, and says so, but for nothing if none is pending', async () => {
    await migrate(db, { shipped: firstRelease });
    const waits: number[] = [];
    const onWait = (waitedMs: number) => waits.push(waitedMs);
    await db.connection().execute(async (other) => {
      await sql`select pg_advisory_lock(${advisoryLocks.vectorIndexes})`.execute(other);
      await migrate(db, { shipped: later('9998-one', { up: async () => {} }), onWait });
      await sql`select pg_advisory_lock(${advisoryLocks.migrations})`.execute(other);
      await migrate(db, { shipped: firstRelease, onWait });
      expect(waits).to.deep.equal([]);
      const shipped = { ...later('9998-one', { up: async () => {} }), '9999-two': { up: async () => {} } };
      const migrating = migrate(db, { shipped, onWait });
      await until(() => waits.length > 0);
      await sql`select pg_advisory_unlock_all()`.execute(other);
      await migrating;
    });
    expect(waits).to.have.lengthOf(1);
    expect((await getMigrationStatus(db)).latestApplied).to.equal('9999-two');
  });

  it('is applied once by processes that start together', async () => {
    let runs = 0;
    const up = async (on: Kysely<unknown>) => {
      runs++;
      await createIndexes(on, { by_slug: 'on organization (slug, id)' });
    };
    const shipped = later('9999-index', { online: true, up });
    await Promise.all([1, 2, 3].map(() => migrate(db, { shipped })));
    expect(runs).to.equal(1);
  });

  it('goes on while others write', async () => {
    const { writes, migrations: applied } = await migrateUnderLoad(database.url, 5_000, 0);
    expect(applied).to.not.have.length(0);
    expect(writes).to.be.greaterThan(0);
  }).timeout(120_000);
});
