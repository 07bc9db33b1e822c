import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { sql } from 'kysely';
import { createAiClient } from '../../../adapters/ai-service/client.ts';
import { Semaphore } from '../../../base/concurrency/semaphore.ts';
import { createLog } from '../../../base/telemetry/create-log.ts';
import { addLogFields, withLogFields } from '../../../base/telemetry/log-context.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { startFakeAi } from '../../support/fake-ai.ts';
import { until } from '../../support/processes.ts';

describe('A line of the log', () => {
  let lines: any[];
  const log = createLog({ level: 'trace', base: { part: 'test' } }, { write: (line) => lines.push(JSON.parse(line)) });
  let database: TestDatabase;
  beforeEach(() => {
    lines = [];
  });
  before(async () => {
    database = await createTestDatabase({ poolSize: 1 });
  });
  after(() => database.drop());

  it('has the fields of the work during which it is written, and only of that', async () => {
    const workOf = (jobId: string, ms: number) =>
      withLogFields({ jobId, workflowId: `job-${jobId}` }, async () => {
        log.info('begun');
        await delay(ms);
        addLogFields({ organizationId: `of ${jobId}` });
        log.child({ kind: 'a' }).warn({ jobId: jobId.toUpperCase() }, 'ended');
      });
    await Promise.all([workOf('one', 20), workOf('two', 10)]);
    log.info('outside');
    const seen = lines.map(({ msg, jobId, workflowId, organizationId }) => [msg, jobId, workflowId, organizationId]);
    expect(seen).to.deep.equal([
      ['begun', 'one', 'job-one', undefined],
      ['begun', 'two', 'job-two', undefined],
      ['ended', 'TWO', 'job-two', 'of two'],
      ['ended', 'ONE', 'job-one', 'of one'],
      ['outside', undefined, undefined, undefined],
    ]);
  });

  it('has them after a query, a wait for the only connection, a turn, and a call of the AI service', async () => {
    const ai = await startFakeAi();
    const client = createAiClient({ baseUrl: ai.url, token: 'any' });
    const turns = new Semaphore(1);
    const work = (jobId: string) =>
      withLogFields({ jobId }, () =>
        turns.run(async () => {
          await sql`select pg_sleep(0.01)`.execute(database.db);
          log.info('queried');
          await database.db.transaction().execute((trx) => sql`select 1`.execute(trx));
          await client.embed({ texts: [jobId] });
          log.info('embedded');
        }),
      );
    try {
      await Promise.all(['one', 'two', 'three'].map(work));
    } finally {
      await ai.stop();
    }
    expect(lines.map(({ msg, jobId }) => `${msg} ${jobId}`)).to.deep.equal(
      ['one', 'two', 'three'].flatMap((jobId) => [`queried ${jobId}`, `embedded ${jobId}`]),
    );
  });

  it('does not name the work for which the lost connection was opened', async () => {
    const { createPool } = await import('../../../db/connect.ts');
    const pool = createPool({ url: database.url, poolSize: 1, onError: () => log.warn('lost') });
    const { rows } = await withLogFields({ jobId: 'one' }, () => pool.query('select pg_backend_pid() as pid'));
    await sql`select pg_terminate_backend(${rows[0].pid})`.execute(database.db);
    await until(() => lines.length > 0);
    await pool.end();
    expect(lines[0]).to.include({ msg: 'lost' }).and.not.have.property('jobId');
  });

  it('keeps values of rows to itself', async () => {
    const { db } = database;
    await sql`create table kept (text text constraint short check (length(text) < 3) unique)`.execute(db);
    await sql`insert into kept values ('aa')`.execute(db);
    const failing = [
      sql`insert into kept values ('SECRET')`,
      sql`insert into kept values ('SE') on conflict do nothing returning text::int`,
      sql`insert into kept values ('aa')`,
      sql`select ${'{"SECRET": SECRET}'}::jsonb`,
      sql`do $$ begin raise exception using message = 'refused', detail = 'SECRET', hint = 'SECRET'; end $$`,
    ];
    for (const statement of failing) {
      await statement.execute(db).catch((err) => {
        log.error({ err: new Error('the work failed', { cause: err }) }, 'failed');
        log.error({ error: err }, 'failed');
        log.error(err);
      });
    }
    expect(lines).to.have.lengthOf(3 * failing.length);
    expect(JSON.stringify(lines)).not.to.match(/SECRET|"SE"|\(aa\)/);
    expect(lines[0].err.cause).to.include({ type: 'DatabaseError', code: '23514', table: 'kept', constraint: 'short' });
    expect(lines[0].err.cause.stack).to.include('create-log.test.ts');
  });

  it('tells of an error only what is known to hold no contents', () => {
    const error = Object.assign(new Error('not sent'), { code: 'EENVELOPE', rejected: ['ada@example.com'], request: { body: 'SECRET' } });
    log.warn({ err: error }, 'failed');
    log.warn({ err: { token: 'SECRET' } }, 'failed');
    log.warn({ err: new AggregateError([error], 'all failed') }, 'failed');
    expect(lines[0].err).to.include({ type: 'Error', message: 'not sent', code: 'EENVELOPE' });
    expect(lines[2].err.errors[0]).to.include({ message: 'not sent' });
    expect(JSON.stringify(lines)).not.to.match(/SECRET|ada/);
  });

  it('ends with causes that form a circle', () => {
    const error = new Error('one');
    error.cause = new Error('two', { cause: error });
    log.warn({ err: error }, 'failed');
    expect(lines[0].err.cause.cause.message).to.equal('one');
  });

  it('is of no work if the process says so', () => {
    const outside = AsyncLocalStorage.snapshot();
    withLogFields({ jobId: 'one' }, () => outside(() => log.info('outside')));
    expect(lines[0]).not.to.have.property('jobId');
  });
});
