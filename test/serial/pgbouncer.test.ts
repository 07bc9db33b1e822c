import { expect } from 'chai';
import { sql } from 'kysely';
import { createDb, createPool } from '../../db/connect.ts';
import { createTestDatabase } from '../support/database.ts';
import { nightly } from '../support/nightly.ts';
import { findPgbouncer, type Pgbouncer, startPgbouncer } from '../support/pgbouncer.ts';
import { endPrograms, runProgram } from '../support/processes.ts';
import { testPostgres } from '../support/stack.ts';

/** Tests of what differs behind a pooler in transaction mode, where statements of one client do not share a session. */
const files = [
  // Reads outside of transactions, which are not prepared there; every request.
  'test/api/documents.test.ts',
  'test/api/jobs.test.ts',
  // Statements that are canceled.
  'test/api/search-aborted.test.ts',
  // LISTEN, which goes past the pooler, and triggers that notify.
  'test/api/job-stream.test.ts',
  'test/jobs/outbox.test.ts',
  // Bounds of locks and statements, which are set for a transaction.
  'test/api/tenant-locks.test.ts',
  // The actor of a change, which is set for a transaction.
  'test/api/auth/members-limit.test.ts',
  // Pools of their own: those of sign-in and of shared limits.
  'test/api/auth/sign-in.test.ts',
  'test/api/shared-limits.test.ts',
];
const program = findPgbouncer();

// Without one, what it does to sessions is not seen.
if (program === undefined) {
  console.log('test/serial/pgbouncer.test.ts runs nothing: there is no pgbouncer. `apt-get install pgbouncer` brings one.');
} else {
  describe('Behind pgbouncer in transaction mode', function () {
    this.timeout(900_000);
    let pgbouncer: Pgbouncer;
    before(async () => {
      pgbouncer = await startPgbouncer(program, (await testPostgres()).adminUrl);
    });
    after(async () => {
      endPrograms();
      await pgbouncer.stop();
    });

    it('a transaction has its bounds, and leaves none behind', async () => {
      const database = await createTestDatabase();
      const url = new URL(database.url);
      url.host = pgbouncer.address;
      const db = createDb(createPool({ url: url.href, pooled: true, poolSize: 1 }));
      const bounds = async (on: typeof db) => {
        const { rows } = await sql<{ name: string; setting: string }>`
          select name, setting from pg_settings where name in ('lock_timeout', 'statement_timeout', 'transaction_timeout') order by name
        `.execute(on);
        return rows.map(({ setting }) => Number(setting));
      };
      try {
        expect(await db.transaction().execute(bounds)).to.deep.equal([3_000, 4_000, 30_000]);
        expect(await bounds(db)).to.deep.equal([0, 0, 0]);
      } finally {
        await db.destroy();
        await database.drop();
      }
    });

    nightly('the API, sign-in and the worker pass the tests of what they do with the database', async () => {
      const args = ['node_modules/mocha/bin/mocha.js', '--reporter', 'dot', '--parallel', '--jobs', '2', ...files];
      const run = runProgram(process.execPath, args, { env: { TEST_POOLER_ADDRESS: pgbouncer.address } });
      const { code } = await run.exited;
      expect(code, `${run.stdout()}${run.stderr()}`).to.equal(0);
      expect(run.stdout()).to.match(/\d\d+ passing/);
    });
  });
}
