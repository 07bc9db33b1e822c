import { expect } from 'chai';
import { sql } from 'kysely';
import { startCustomerSync } from '../../contract/intents/definitions.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

describe('A change of an organization', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
    await sql`insert into organization (id, name, slug, "stripeCustomerId")
      values ('paying', 'P', 'pp', 'cus_1'), ('free', 'F', 'ff', null)`.execute(database.db);
    await sql`insert into plan_limit (plan, members, dunning_days) values ('team', 100, 14)`.execute(database.db);
  });
  after(() => database.drop());
  beforeEach(() => sql`delete from outbox`.execute(database.db));

  const intents = async () => await database.db.selectFrom('outbox').select(['workflow_id', 'intent']).execute();

  it('asks for its customer to get its name, as the code would, when the name or the customer is another one', async () => {
    await sql`update organization set name = 'Q' where id = 'paying'`.execute(database.db);
    await sql`update organization set "stripeCustomerId" = 'cus_2' where id = 'paying'`.execute(database.db);
    const expected = { workflow_id: 'customer-paying', intent: startCustomerSync('paying') };
    expect(await intents()).to.deep.equal([expected, expected]);
  });

  it('asks for nothing if neither changes, without a customer, and while billing is off', async () => {
    await sql`update organization set name = name, "stripeCustomerId" = "stripeCustomerId"`.execute(database.db);
    await sql`update organization set slug = 'qq' where id = 'paying'`.execute(database.db);
    await sql`update organization set name = 'G' where id = 'free'`.execute(database.db);
    await sql`delete from plan_limit`.execute(database.db);
    await sql`update organization set name = 'R' where id = 'paying'`.execute(database.db);
    expect(await intents()).to.deep.equal([]);
  });
});
