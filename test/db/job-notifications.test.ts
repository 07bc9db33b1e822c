import { connect, createServer } from 'node:net';
import { expect } from 'chai';
import { sql } from 'kysely';
import pg from 'pg';
import { listen } from '../../db/listen.ts';
import { listChanges, readChangedJobs } from '../../domain/jobs/list-changed-jobs.ts';
import { findFreePorts } from '../../ops/local/ports.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { until } from '../support/processes.ts';

describe('Notifications of jobs', () => {
  let database: TestDatabase;
  let listener: pg.Client;
  let heard: string[] = [];

  before(async () => {
    database = await createTestDatabase();
    for (const id of ['one', 'two']) {
      await sql`insert into organization (id, name, slug) values (${id}, ${id}, ${id})`.execute(database.db);
    }
    listener = new pg.Client({ connectionString: database.url });
    await listener.connect();
    listener.on('notification', ({ payload }) => heard.push(payload ?? ''));
    await listener.query('listen job_changed; listen marks');
  });
  after(async () => {
    await listener.end();
    await database.drop();
  });

  /** What is heard of a statement: notifications come in the order of the commits. */
  async function heardOf(statement: string): Promise<string[]> {
    heard = [];
    await sql.raw(statement).execute(database.db);
    await sql`notify marks, 'mark'`.execute(database.db);
    await until(async () => heard.at(-1) === 'mark');
    return heard.slice(0, -1).sort();
  }
  const insert = (prefix: string, organization: string, count: number) =>
    `insert into job (id, organization_id, kind, input, max_attempts, credits, credit_month)
     select '${prefix}' || n, ${organization}, 'text.embed', '{}', 1, 1, '2026-11-01' from generate_series(1, ${count}) as series (n)`;

  it('are one for each organization whose jobs a statement writes', async () => {
    expect(await heardOf(insert('a', `case when n = 3 then 'two' else 'one' end`, 3))).to.deep.equal(['one a1 a2', 'two a3']);
    expect(await heardOf(`update job set status = 'running' where id in ('a1', 'a3')`)).to.deep.equal(['one a1', 'two a3']);
  });

  it('do not name jobs that did not change for a reader of streams', async () => {
    expect(await heardOf('update job set swept_at = now()')).to.deep.equal([]);
    expect(await heardOf(`update job set status = 'running' where organization_id = 'one'`)).to.deep.equal(['one a2']);
  });

  it('name a job that has done another of its stages', async () => {
    await heardOf(insert('staged', `'one'`, 2));
    const store = `update job set stages = '{"extract": {}}', updated_at = now() where id like 'staged%'`;
    expect(await heardOf(`${store} and id = 'staged1'`)).to.deep.equal(['one staged1']);
    expect(await heardOf(store)).to.deep.equal(['one staged2']);
  });

  it('name no jobs if there are too many', async () => {
    expect(await heardOf(insert('b', `'one'`, 100))).to.have.length(1);
    expect(await heardOf(insert('c', `'one'`, 101))).to.deep.equal(['one *']);
    expect(await heardOf(`update job set status = 'canceled' where organization_id = 'one'`)).to.deep.equal(['one *']);
  });

  it('lead to jobs as they were listed: one that has changed since is read by its later change, with its size', async () => {
    await heardOf(insert('grown', `'one'`, 201));
    const isGrown = ({ id }: { id: string }) => id.startsWith('grown');
    const { changes } = await listChanges(database.db, 'one', new Date(0));
    const parts = readChangedJobs(database.db, changes.filter(isGrown));
    expect((await parts.next()).value).to.have.length(200);
    const { id = '' } = changes.filter(isGrown).at(-1) ?? {};
    const result = { model: 'm', dimensions: 1, vectors: [Array(200_000).fill(1)] };
    await sql`update job set status = 'succeeded', result = ${JSON.stringify(result)}, finished_at = clock_timestamp(),
      updated_at = clock_timestamp() + interval '2 ms' where id = ${id}`.execute(database.db);
    expect((await parts.next()).value).to.deep.equal([]);
    const again = (await listChanges(database.db, 'one', new Date(0))).changes.filter((change) => change.id === id);
    expect(again[0]?.bytes).to.be.above(200_000);
    const jobs = (await readChangedJobs(database.db, again).next()).value;
    expect(jobs?.[0]).to.include({ id, status: 'succeeded' });
  });

  it('that were lost before the first connection are told of, too', async () => {
    const { port } = new URL(database.url);
    const [ownPort = 0] = await findFreePorts(1);
    const url = new URL(database.url);
    url.host = `127.0.0.1:${ownPort}`;
    let errors = 0;
    let listening = 0;
    const own = listen({
      url: url.href,
      channel: 'job_changed',
      onNotification: () => {},
      onListening: () => listening++,
      onError: () => errors++,
    });
    await until(() => errors > 0);
    expect(listening).to.equal(0);
    const proxy = createServer((socket) => void socket.pipe(connect(Number(port), '127.0.0.1')).pipe(socket)).listen(ownPort, '127.0.0.1');
    await own.ready;
    expect(listening).to.equal(1);
    await own.stop();
    proxy.close();
  });
});
