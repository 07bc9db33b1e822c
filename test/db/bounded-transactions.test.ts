import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { sql } from 'kysely';
import { longestTransactionMs } from '../../db/bounds.ts';
import { createDb, createPool, type Db, type Transaction } from '../../db/connect.ts';
import { inTransaction } from '../../db/transaction.ts';
import { isUnavailable } from '../../db/unavailable.ts';
import { listChanges, replayStart } from '../../domain/jobs/list-changed-jobs.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { nightly } from '../support/nightly.ts';
import { staysTrue } from '../support/stays-true.ts';

/** So long that a short transaction is over in time also on a busy machine. */
const boundMs = 1_000;

describe('A transaction', () => {
  let database: TestDatabase;
  let bounded: Db;
  let bulk: Db;

  before(async () => {
    database = await createTestDatabase();
    const bounds = { statementMs: boundMs - 200, transactionMs: boundMs };
    bounded = createDb(createPool({ url: database.url, poolSize: 1, bounds }));
    bulk = createDb(createPool({ url: database.url, poolSize: 1, work: 'bulk' }));
    await sql`create table note (id text primary key)`.execute(database.db);
    await database.db.insertInto('organization').values({ id: 'one', name: 'One', slug: 'one', createdAt: new Date() }).execute();
  });
  after(async () => {
    await bounded.destroy();
    await bulk.destroy();
    await database.drop();
  });

  const sleep = (db: Db | Transaction, seconds: number) => sql`select pg_sleep(${seconds})`.execute(db);
  const write = (db: Db | Transaction, id: string) => sql`insert into note values (${id})`.execute(db);
  const isWritten = async (id: string) => (await sql`select id from note where id = ${id}`.execute(database.db)).rows.length === 1;
  const failureOf = (work: Promise<unknown>): Promise<Error | undefined> =>
    work.then(
      () => undefined,
      (error) => error,
    );

  /** Writes, and goes on for longer than the bound with statements that are each short. */
  async function outlive(trx: Transaction, id: string): Promise<void> {
    await write(trx, id);
    for (const endsAt = Date.now() + 1.5 * boundMs; Date.now() < endsAt; ) await sleep(trx, 0.05);
  }

  it('that outlives the bound is ended by Postgres, and its connection is replaced', async () => {
    const began = Date.now();
    let outlived = false;
    const error = await failureOf(
      inTransaction(bounded, async (trx) => {
        await outlive(trx, 'many statements');
        outlived = true;
      }),
    );
    expect(error).to.include({ code: '25P04' });
    expect(isUnavailable(error)).to.equal(true);
    expect(Date.now() - began).to.be.at.least(boundMs - 10);
    expect(outlived, 'it went on to its end').to.equal(false);
    expect(await isWritten('many statements')).to.equal(false);
    await inTransaction(bounded, (trx) => write(trx, 'the next one'));
    expect(await isWritten('the next one')).to.equal(true);
  });

  it('is not committed late by a process that was busy', async () => {
    const error = await failureOf(
      inTransaction(bounded, async (trx) => {
        await write(trx, 'busy');
        for (const endsAt = Date.now() + 1.5 * boundMs; Date.now() < endsAt; );
      }),
    );
    expect(isUnavailable(error), String(error)).to.equal(true);
    await staysTrue(async () => !(await isWritten('busy')), 100);
  });

  it('of one statement is canceled by Postgres', async () => {
    expect(await failureOf(sleep(bounded, 5))).to.include({ code: '57014' });
  });

  it('that was over in time leaves its connection alone', async () => {
    const pid = async () => (await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(bounded)).rows[0]?.pid;
    const before = await pid();
    await inTransaction(bounded, (trx) => write(trx, 'short'));
    await failureOf(
      inTransaction(bounded, () => {
        throw new Error('rolled back');
      }),
    );
    await delay(boundMs + 100);
    expect(await pid()).to.equal(before);
  });

  it('that does bulk work goes on', async () => {
    await inTransaction(bulk, (trx) => outlive(trx, 'bulk'));
    expect(await isWritten('bulk')).to.equal(true);
  });

  const insert = (trx: Db | Transaction, id: string, values: { updated_at?: Date } = {}) => {
    const job = {
      id,
      organization_id: 'one',
      kind: 'text.embed',
      input: '{}',
      max_attempts: 1,
      credits: 0,
      credit_month: '2026-01-01',
    } as const;
    return trx
      .insertInto('job')
      .values({ ...job, ...values })
      .returning('updated_at')
      .executeTakeFirstOrThrow();
  };

  async function idsChangedSince(db: Db, from: Date): Promise<string[]> {
    const { changes, more } = await listChanges(db, 'one', from);
    expect(more).to.equal(false);
    return changes.map(({ id }) => id);
  }

  it('has one bound in every pool, by which every replay begins earlier, unless told otherwise', async () => {
    for (const work of ['request', 'worker'] as const) {
      const pool = createPool({ url: database.url, poolSize: 1, work });
      const { rows } = await pool.query("select setting::int as bound from pg_settings where name = 'transaction_timeout'");
      await pool.end();
      expect(rows).to.deep.equal([{ bound: longestTransactionMs }]);
    }
    const { updated_at: told } = await insert(database.db, 'told');
    await insert(database.db, 'written before', { updated_at: new Date(told.getTime() - longestTransactionMs) });
    const replayed = await idsChangedSince(database.db, replayStart(told));
    expect(replayed).to.include('written before');
  });

  nightly('that changes a job is found by every replay that begins before its commit', async () => {
    // Longer than the margin that a replay takes beside the bound.
    const replayedMs = 9_000;
    const pool = createPool({ url: database.url, poolSize: 6, bounds: { transactionMs: replayedMs } });
    const db = createDb(pool);
    const writeSlowly = (seconds: number) =>
      failureOf(
        inTransaction(db, async (trx) => {
          await insert(trx, `written in ${seconds} s`);
          for (const endsAt = Date.now() + seconds * 1_000; Date.now() < endsAt; ) await sleep(trx, 0.1);
        }),
      );
    const boundSeconds = replayedMs / 1_000;
    const rounds = [2, boundSeconds - 2, boundSeconds + 3].map(async (seconds) => {
      const writing = writeSlowly(seconds);
      // What a stream has told of just before the commit, if it comes to that.
      await delay((seconds - 1) * 1_000);
      const told = (await insert(db, `told after ${seconds - 1} s`)).updated_at;
      const error = await writing;
      const replayed = await idsChangedSince(db, replayStart(told, replayedMs));
      return { error: error && isUnavailable(error), id: `written in ${seconds} s`, replayed };
    });

    const ended = await Promise.all(rounds).finally(() => db.destroy());
    for (const { error, id, replayed } of ended) {
      const committed = await database.db.selectFrom('job').select('id').where('id', '=', id).executeTakeFirst();
      if (committed) expect(replayed, `the replay misses what was ${id}`).to.include(id);
      expect(error, id).to.equal(committed ? undefined : true);
    }
    // A busy machine may take the one between them over the bound.
    expect([ended.at(0)?.error, ended.at(-1)?.error]).to.deep.equal([undefined, true]);
  });
});
