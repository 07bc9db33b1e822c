import { expect } from 'chai';
import { sql } from 'kysely';
import { createDb, createPool, type Db } from '../../db/connect.ts';
import { getMigrationStatus, migrate } from '../../db/migrate.ts';
import { triggers } from '../../db/triggers.ts';
import { createEmptyDatabase, createTestDatabase, type TestDatabase } from '../support/database.ts';

describe('The triggers of the database', () => {
  let database: TestDatabase;
  let db: Db;
  beforeEach(async () => {
    database = await createEmptyDatabase();
    db = createDb(createPool({ url: database.url, poolSize: 2, work: 'migration' }));
  });
  afterEach(async () => {
    await db.destroy();
    await database.drop();
  });

  const ruleThat = (returns: number) => ({
    ...triggers,
    'triggers/answer.sql': `create or replace function answer() returns integer language sql as $$ select ${returns} $$;`,
  });
  const answer = async () => (await sql<{ answer: number }>`select answer()`.execute(db)).rows[0]?.answer;

  it('are applied when their text changed, also back to one that the database had', async () => {
    expect((await getMigrationStatus(db)).pending).to.include.members(Object.keys(triggers));
    for (const text of [1, 2, 1]) {
      await migrate(db, { triggers: ruleThat(text) });
      expect(await answer()).to.equal(text);
      expect((await getMigrationStatus(db)).pending).to.deep.equal([]);
    }
  });

  it('are not changed back by an earlier version that starts later', async () => {
    const start = (version: string, text: number) => migrate(db, { triggers: ruleThat(text), version });
    await start('1.9.0', 1);
    await start('1.10.0', 2);
    await start('1.9.0', 1);
    expect(await answer()).to.equal(2);
    await start('1.11.0', 1);
    expect(await answer()).to.equal(1);
  });

  it('are not applied to a database of before the first release, which the migrator refuses in words', async () => {
    await sql`create table kysely_migration (name text primary key, timestamp text not null)`.execute(db);
    await sql`insert into kysely_migration values ('0001-initial', '2026')`.execute(db);
    await sql`create table organization (id text)`.execute(db);
    const error = await migrate(db).catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(Error).with.property('message').that.includes('before the first release');
    expect((await getMigrationStatus(db)).applied).to.equal(1);
  });

  it('are all there is: no function and no trigger comes from elsewhere', async () => {
    const migrated = await createTestDatabase();
    const { rows } = await sql<{ name: string }>`
      select proname::text as name from pg_proc where pronamespace = 'public'::regnamespace
      union select tgname::text from pg_trigger where not tgisinternal
    `.execute(migrated.db);
    await migrated.drop();
    const named = Object.values(triggers).flatMap((text) =>
      [...text.matchAll(/^create or replace (?:function|trigger) (\w+)/gm)].map(([, name]) => name),
    );
    expect(new Set(rows.map(({ name }) => name))).to.deep.equal(new Set(named));
  });
});
