import { expect } from 'chai';
import { sql } from 'kysely';
import { grantFirstAdmin } from '../../domain/platform/grant-first-admin.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { until } from '../support/processes.ts';

const whoever = { email: undefined, verified: false };

describe('The grant of the first platform admin', () => {
  let database: TestDatabase;
  beforeEach(async () => {
    database = await createTestDatabase();
  });
  afterEach(() => database.drop());

  const addUser = (id: string, createdAt: Date) =>
    database.db
      .insertInto('user')
      .values({ id, name: id, email: `${id}@example.com`, role: 'user', createdAt })
      .execute();
  const admins = async () => (await database.db.selectFrom('user').select('id').where('role', '=', 'admin').execute()).map(({ id }) => id);
  const grant = (id: string) => database.db.transaction().execute((trx) => grantFirstAdmin(trx, id, whoever));

  it('waits for one that is not committed, and then makes no second one', async () => {
    await addUser('bob', new Date(2));
    const held = await database.db.startTransaction().execute();
    expect(await grantFirstAdmin(held, 'bob', whoever)).to.equal('granted');
    // Her sign-up began first and was committed last.
    await addUser('ada', new Date(1));
    const waits = grant('ada');
    await until(async () => {
      const { rows } = await sql`select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query like '%advisory%'`.execute(database.db);
      return rows.length > 0;
    });
    await held.commit().execute();
    expect(await waits).to.equal('has-admin');
    expect(await admins()).to.deep.equal(['bob']);
  });

  it('means whoever signed up first, and nobody once there is an admin', async () => {
    await addUser('ada', new Date(1));
    await addUser('bob', new Date(2));
    expect(await grant('bob')).to.equal('another-user');
    expect(await grant('ada')).to.equal('granted');
    await addUser('eve', new Date(0));
    expect(await grant('eve')).to.equal('has-admin');
    expect(await admins()).to.deep.equal(['ada']);
  });
});
