import { expect } from 'chai';
import { sql } from 'kysely';
import { actorQuery } from '../../db/actor.ts';
import { deleteOwnerlessOrganizations } from '../../domain/organizations/delete-ownerless-organizations.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const ada = { userId: 'ada', email: 'ada@example.com', impersonatedBy: null };

describe('An organization whose first member was never written', () => {
  let database: TestDatabase;
  beforeEach(async () => {
    database = await createTestDatabase();
    await sql`insert into auth_limit (name, value) values ('organizationsPerUser', 2)`.execute(database.db);
  });
  afterEach(() => database.drop());

  /** What better-auth has written when its process dies. */
  async function begin(id: string): Promise<void> {
    await database.db.transaction().execute(async (trx) => {
      await trx.executeQuery(actorQuery(ada));
      await sql`insert into organization (id, name, slug, "createdAt") values (${id}, ${id}, ${id}, now())`.execute(trx);
    });
  }
  const age = (interval: string, id: string) =>
    sql`update organization_without_owner set created_at = now() - ${interval}::interval where organization_id = ${id}`.execute(
      database.db,
    );
  const failureOf = (work: Promise<unknown>): Promise<Error | undefined> =>
    work.then(
      () => undefined,
      (error) => error,
    );

  it('counts for its creator for an hour', async () => {
    await begin('one');
    await begin('two');
    expect((await failureOf(begin('three')))?.message).to.include('MAXIMUM_NUMBER_OF_ORGANIZATIONS');
    await age('61 minutes', 'one');
    expect(await failureOf(begin('three'))).to.equal(undefined);
    expect((await failureOf(begin('four')))?.message).to.include('MAXIMUM_NUMBER_OF_ORGANIZATIONS');
  });

  it('is deleted after a day, unless it has a member or a subscription by then', async () => {
    const { db } = database;
    await sql`delete from auth_limit`.execute(db);
    for (const id of ['old', 'young', 'joined', 'paying']) await begin(id);
    await age('25 hours', 'old');
    await age('23 hours', 'young');
    await age('25 hours', 'joined');
    await age('25 hours', 'paying');
    await sql`insert into subscription (id, plan, "referenceId", status) values ('s', 'pro', 'paying', 'active')`.execute(db);
    await sql`insert into "user" (id, name, email, "emailVerified") values ('ada', 'Ada', 'ada@example.com', true)`.execute(db);
    await sql`insert into member (id, "organizationId", "userId", role, "createdAt") values ('m', 'joined', 'ada', 'member', now())`.execute(
      db,
    );

    const reported: number[] = [];
    const run = () =>
      deleteOwnerlessOrganizations(db, { onProgress: (marked) => reported.push(marked), signal: new AbortController().signal });
    expect(await run()).to.equal(1);
    expect(reported.at(-1)).to.equal(1);
    expect(await db.selectFrom('organization_deletion').select(['organization_id', 'requested_by']).execute()).to.deep.equal([
      { organization_id: 'old', requested_by: null },
    ]);
    const intents = await db.selectFrom('outbox').select('workflow_id').where('workflow_id', 'like', '%old').execute();
    expect(intents).to.have.lengthOf(1);
    const audited = await db.selectFrom('audit_entry').select(['action', 'actor_id']).where('organization_id', '=', 'old').execute();
    expect(audited).to.deep.include({ action: 'organization.delete', actor_id: null });
    expect(await run()).to.equal(0);
  });

  it('is deleted also beside thousands that have one by now', async () => {
    const { db } = database;
    await sql`delete from auth_limit`.execute(db);
    await sql`insert into "user" (id, name, email, "emailVerified") values ('ada', 'Ada', 'ada@example.com', true)`.execute(db);
    await sql`insert into organization (id, name, slug, "createdAt")
      select 'joined-' || n, 'n', 'joined-' || n, now() from generate_series(1, 2001) n`.execute(db);
    await sql`insert into member (id, "organizationId", "userId", role, "createdAt")
      select id, id, 'ada', 'member', now() from organization`.execute(db);
    await sql`insert into organization_without_owner (organization_id, user_id, created_at)
      select id, 'ada', now() - interval '2 days' from organization`.execute(db);
    await begin('old');
    await age('25 hours', 'old');
    const marked = await deleteOwnerlessOrganizations(db, { onProgress() {}, signal: new AbortController().signal });
    expect(marked).to.equal(1);
    const deleted = await db.selectFrom('organization_deletion').select('organization_id').execute();
    expect(deleted).to.deep.equal([{ organization_id: 'old' }]);
  });
});
