import { expect } from 'chai';
import { sql } from 'kysely';
import { documentSchema } from '../../contract/documents.ts';
import { planName } from '../../contract/fields.ts';
import { jobStatuses } from '../../contract/jobs.ts';
import { onDuplicate } from '../../contract/workspaces.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

describe('The values that the database checks', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());

  /** The texts that the check of a column lists. */
  async function allowed(table: string, column: string): Promise<string[]> {
    const { rows } = await sql<{ definition: string }>`
      select pg_get_constraintdef(con.oid) as definition from pg_constraint con
      join pg_attribute att on att.attrelid = con.conrelid and att.attnum = con.conkey[1]
      where con.contype = 'c' and con.conrelid = ${table}::regclass and att.attname = ${column} and cardinality(con.conkey) = 1
    `.execute(database.db);
    expect(rows).to.have.length(1);
    return [...(rows[0]?.definition ?? '').matchAll(/'([^']*)'::text/g)].map((match) => match[1] ?? '');
  }

  for (const [table, column, declared] of [
    ['job', 'status', jobStatuses],
    ['document', 'status', documentSchema.shape.status.options],
    ['plan_limit', 'plan', planName.options],
    ['workspace', 'on_duplicate', onDuplicate.options],
  ] as const) {
    it(`are those of the contract: ${table}.${column}`, async () => {
      expect(await allowed(table, column)).to.have.members([...declared]);
    });
  }

  it('were checked in the rows that were there before', async () => {
    // Lengths of names hold for what is written from now on: an older, longer one is no reason to refuse an upgrade.
    const unchecked = await sql`
      select conname from pg_constraint where not convalidated and conname not like '%length'`.execute(database.db);
    expect(unchecked.rows).to.deep.equal([]);
  });
});
