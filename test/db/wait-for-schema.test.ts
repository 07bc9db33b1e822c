import { expect } from 'chai';
import { migrate } from '../../db/migrate.ts';
import { migrations } from '../../db/migrations/index.ts';
import { createEmptyDatabase, createTestDatabase, type TestDatabase } from '../support/database.ts';
import { endPrograms, runProgram } from '../support/processes.ts';

describe('node db/main.ts', () => {
  const databases: TestDatabase[] = [];
  afterEach(endPrograms);
  after(async () => {
    for (const database of databases) await database.drop();
  });

  async function use(created: Promise<TestDatabase>): Promise<TestDatabase> {
    const database = await created;
    databases.push(database);
    return database;
  }

  it('waits until another process has migrated an empty database, and changes nothing itself', async () => {
    const database = await use(createEmptyDatabase({ poolSize: 2 }));
    const program = runProgram(process.execPath, ['db/main.ts'], { env: { ...database.env, NODE_ENV: 'production' } });
    // As many as `ops migrate` then applies.
    const [, told] = await program.printed(/^(\d+) migrations are to come, from 0001\S* on\.$/m);
    expect(Number(told)).to.equal(Object.keys(migrations).length);
    const { rows } = await database.pool.query(`select from pg_tables where schemaname = 'public'`);
    expect(rows).to.deep.equal([]);
    await migrate(database.db);
    expect((await program.exited).code, program.stderr()).to.equal(0);
  });

  it('ends at once if nothing is pending', async () => {
    const database = await use(createTestDatabase({ poolSize: 2 }));
    const program = runProgram(process.execPath, ['db/main.ts'], { env: database.env });
    expect((await program.exited).code, program.stderr()).to.equal(0);
    expect(program.stdout()).to.equal('');
  });

  it('says that it does not reach the database, and refuses to start without an address', async () => {
    const away = runProgram(process.execPath, ['db/main.ts'], { env: { DATABASE_URL: 'postgres://nobody@127.0.0.1:9/none' } });
    await away.printed(/^The database cannot be read: /m);
    const lacking = runProgram(process.execPath, ['db/main.ts'], { env: { DATABASE_URL: '' } });
    expect((await lacking.exited).code).to.equal(1);
    expect(lacking.stderr()).to.equal('The configuration has a problem:\n  - DATABASE_URL: is missing\n');
  });
});
