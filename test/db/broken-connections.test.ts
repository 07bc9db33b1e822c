import { createServer, type Server } from 'node:net';
import { expect } from 'chai';
import { sql } from 'kysely';
import { cancelOnAbort } from '../../db/cancel-on-abort.ts';
import { createDb, createPool, type Db, ping } from '../../db/connect.ts';
import { DatabaseUnavailable, isUnavailable } from '../../db/unavailable.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { until } from '../support/processes.ts';
import { startDatabaseProxy, type TcpProxy } from '../support/tcp-proxy.ts';

const failureOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error) => error,
  );

describe('A connection', () => {
  let database: TestDatabase;
  let proxy: TcpProxy;
  let db: Db;
  before(async () => {
    database = await createTestDatabase();
    const through = await startDatabaseProxy(database.url);
    proxy = through.proxy;
    db = createDb(createPool({ url: through.url, poolSize: 2, bounds: { statementMs: 500, connectMs: 1_000 } }));
  });
  after(async () => {
    await db.destroy();
    await proxy.stop();
    await database.drop();
  });

  it('whose server says nothing is given up, with the rest of its transaction, and replaced', async () => {
    const startedAt = performance.now();
    const error = await failureOf(
      db.transaction().execute(async (trx) => {
        await sql`select 1`.execute(trx);
        proxy.silence();
        await failureOf(sql`select 2`.execute(trx));
        await sql`select 3`.execute(trx);
      }),
    );
    proxy.resume({ forget: true });
    expect(error).to.be.instanceOf(DatabaseUnavailable);
    // One wait of a statement: what follows, and the rollback, wait no more.
    expect(performance.now() - startedAt).to.be.within(900, 2_500);
    expect((await sql<{ one: number }>`select 1 as one`.execute(db)).rows).to.deep.equal([{ one: 1 }]);
  });

  it('whose server takes no writes is replaced: the address may lead to the new primary', async () => {
    await sql`set default_transaction_read_only = on`.execute(db);
    const write = () => failureOf(sql`delete from mail`.execute(db));
    expect(isUnavailable(await write())).to.equal(true);
    expect(await write()).to.equal(undefined);
  });

  it('that cannot be made in time is DatabaseUnavailable', async () => {
    const silent = createServer(() => {}).listen(0, '127.0.0.1');
    await new Promise((resolve) => silent.once('listening', resolve));
    const { port } = silent.address() as { port: number };
    const lost = createDb(createPool({ url: `postgres://nobody@127.0.0.1:${port}/nothing`, poolSize: 1, bounds: { connectMs: 300 } }));
    expect(await failureOf(sql`select 1`.execute(lost))).to.be.instanceOf(DatabaseUnavailable);
    await lost.destroy();
    silent.close();
  });

  it('is not opened once its pool is destroyed, even if there was none', async () => {
    const pool = createPool({ url: database.url, poolSize: 1 });
    const own = createDb(pool);
    await own.destroy();
    await own.destroy();
    expect(await failureOf(ping(own)))
      .to.have.property('message')
      .that.contains('after calling end on the pool');
    expect(pool.totalCount).to.equal(0);
  });

  it('to a Postgres before 17 says so', async () => {
    const old = await startRefusing('unrecognized configuration parameter "transaction_timeout"', '42704');
    const { port } = old.address() as { port: number };
    const db16 = createDb(createPool({ url: `postgres://nobody@127.0.0.1:${port}/nothing`, poolSize: 1 }));
    expect(await failureOf(sql`select 1`.execute(db16))).to.have.property(
      'message',
      'Postgres 17 or newer is required: this server is older.',
    );
    await db16.destroy();
    old.close();
  });

  it('ends the statement that the server runs when its signal aborts, and serves the next', async () => {
    const holder = await database.db.startTransaction().execute();
    await sql`select pg_advisory_xact_lock(4711)`.execute(holder);
    const leaving = new AbortController();
    const lock = () =>
      database.db
        .transaction()
        .execute((trx) => cancelOnAbort(database.db, trx, leaving.signal, () => sql`select pg_advisory_xact_lock(4711)`.execute(trx)));
    const waiting = failureOf(lock());
    await until(async () => (await waitingForLocks()) === 1);
    leaving.abort('left');
    expect(await waiting).to.equal('left');
    expect(await waitingForLocks()).to.equal(0);
    expect(await failureOf(lock()), 'nothing is sent for a signal that has aborted').to.equal('left');
    await holder.rollback().execute();
  });

  async function waitingForLocks(): Promise<number> {
    const { rows } = await sql`
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
    `.execute(database.db);
    return rows.length;
  }

  it('that the server has ended fails as the database being away', async () => {
    const error = await failureOf(
      database.db.transaction().execute(async (trx) => {
        const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(trx);
        await sql`select pg_terminate_backend(${rows[0]?.pid})`.execute(database.db);
        await new Promise((resolve) => setTimeout(resolve, 200));
        await sql`select 1`.execute(trx);
      }),
    );
    expect(error).to.include({ code: '57P01' });
    expect(isUnavailable(error)).to.equal(true);
  });
});

/** A server that refuses every connection with an error of Postgres' protocol. */
async function startRefusing(message: string, code: string): Promise<Server> {
  const fields = Buffer.from(`SFATAL\0C${code}\0M${message}\0\0`);
  const head = Buffer.alloc(5);
  head.write('E');
  head.writeInt32BE(fields.length + 4, 1);
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.end(Buffer.concat([head, fields])));
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return server;
}
