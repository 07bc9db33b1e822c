import { expect } from 'chai';
import { sql } from 'kysely';
import { startCustomerSync, startSeatSync } from '../../contract/intents/definitions.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

describe('A change of members', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
    await sql`insert into organization (id, name, slug) values ('paying', 'P', 'pp'), ('free', 'F', 'ff')`.execute(database.db);
    await sql`insert into "user" (id, name, email) select 'u' || n, 'U', 'u' || n || '@example.com' from generate_series(1, 5) n`.execute(
      database.db,
    );
    await sql`insert into subscription (id, plan, status, "referenceId") values ('s', 'team', 'active', 'paying')`.execute(database.db);
  });
  after(() => database.drop());
  beforeEach(async () => {
    await sql`delete from member where role = 'member'`.execute(database.db);
    await sql`delete from outbox`.execute(database.db);
  });

  const billing = (on: boolean) =>
    on
      ? sql`insert into plan_limit (plan, members, dunning_days) values ('team', 100, 14)`.execute(database.db)
      : sql`delete from plan_limit`.execute(database.db);
  const join = (organization: string, users: string[], role = 'member') =>
    sql`insert into member (id, "organizationId", "userId", role)
      select ${organization} || u, ${organization}, u, ${role} from unnest(${sql.val(users)}::text[]) u`.execute(database.db);
  const intents = async () => await database.db.selectFrom('outbox').select(['workflow_id', 'intent']).execute();

  it('asks for the seats of an organization that pays, once for each statement, as the code would', async () => {
    await billing(true);
    await join('paying', ['u1'], 'owner');
    await join('paying', ['u2', 'u3']);
    await sql`delete from "user" where id = 'u3'`.execute(database.db);
    const expected = { workflow_id: 'seats-paying', intent: startSeatSync('paying') };
    expect(await intents()).to.deep.equal([expected, expected, expected]);
  });

  it('asks for nothing without a subscription, while billing is off, and when the organization goes', async () => {
    await join('free', ['u4'], 'owner');
    await billing(false);
    await join('paying', ['u5']);
    await billing(true);
    await sql`delete from organization where id = 'paying'`.execute(database.db);
    expect(await intents()).to.deep.equal([]);
  });
});

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
