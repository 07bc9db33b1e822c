import { expect } from 'chai';
import { sql } from 'kysely';
import { createDb, createPool, type Db } from '../../db/connect.ts';
import { getMigrationStatus, migrate } from '../../db/migrate.ts';
import { rules } from '../../db/rules.ts';
import { createEmptyDatabase, createTestDatabase, type TestDatabase } from '../support/database.ts';

describe('The rules of the database', () => {
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
    ...rules,
    'rules/answer.sql': `create or replace function answer() returns integer language sql as $$ select ${returns} $$;`,
  });
  const answer = async () => (await sql<{ answer: number }>`select answer()`.execute(db)).rows[0]?.answer;

  it('are applied when their text changed, and not by a version of which the database had a newer one', async () => {
    expect((await getMigrationStatus(db)).pending).to.include.members(Object.keys(rules));
    await migrate(db, { rules: ruleThat(1) });
    expect(await answer()).to.equal(1);
    expect((await getMigrationStatus(db)).pending).to.deep.equal([]);
    await migrate(db, { rules: ruleThat(2) });
    expect(await answer()).to.equal(2);
    await migrate(db, { rules: ruleThat(1) });
    expect(await answer()).to.equal(2);
  });

  it('are all there is: no function and no trigger comes from elsewhere', async () => {
    const migrated = await createTestDatabase();
    const { rows } = await sql<{ name: string }>`
      select proname::text as name from pg_proc where pronamespace = 'public'::regnamespace
      union select tgname::text from pg_trigger where not tgisinternal
    `.execute(migrated.db);
    await migrated.drop();
    const named = Object.values(rules).flatMap((text) =>
      [...text.matchAll(/^create or replace (?:function|trigger) (\w+)/gm)].map(([, name]) => name),
    );
    expect(new Set(rows.map(({ name }) => name))).to.deep.equal(new Set(named));
  });
});
