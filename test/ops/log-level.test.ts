import { expect } from 'chai';
import { sql } from 'kysely';
import type { ServiceName } from '../../ops/local/stack.ts';
import { createJob } from '../support/jobs.ts';
import { runOps } from '../support/ops.ts';
import { until } from '../support/processes.ts';
import { useApi } from '../support/use-api.ts';

describe('The log level that an operator sets', () => {
  const services: ServiceName[] = ['api', 'worker'];
  const { api, tenant } = useApi({ ai: true, services });

  const run = (...args: string[]) => {
    const { DATABASE_URL, TEMPORAL_ADDRESS, DATA_DIR } = api.stack.env;
    return runOps(['log-level', ...args], { DATABASE_URL, TEMPORAL_ADDRESS, DATA_DIR });
  };
  const changes = (service: ServiceName) =>
    [...api.stack.readLog(service).matchAll(/"logLevel":"(\w+)","msg":"the log level changes"/g)].map(([, level]) => level);
  const reached = (...levels: string[]) =>
    until(() => services.every((service) => JSON.stringify(changes(service)) === JSON.stringify(levels)), 30_000);
  const minutesLeft = async () => {
    const minutes = sql<number>`extract(epoch from log_level_until - now())::float8 / 60`.as('minutes');
    return (await api.database.db.selectFrom('deployment').select(minutes).executeTakeFirstOrThrow()).minutes;
  };
  /** Sends a request, and returns the id that its line of the log has. */
  const request = async () => (await api.request('GET', '/api/v1/me', { token: tenant.owner.token })).headers.get('x-request-id') as string;
  const job = async () => {
    const { id } = await createJob(api, tenant, { kind: 'text.embed', texts: ['one'] });
    await api.jobIn(tenant.owner.token, id, ['succeeded']);
  };

  it('holds for API and workers that run, and ends by hand or by itself', async () => {
    await job();
    expect(api.stack.readLog('worker')).not.to.include('"msg":"Activity completed"');
    const { code, stdout } = await run('trace');
    expect(code).to.equal(0);
    expect(stdout).to.match(/^The log level is trace until \d{4}-\S+Z\.\n$/);
    expect(await minutesLeft()).to.be.within(25, 30);
    await reached('trace');
    await job();
    await until(() => api.stack.readLog('worker').includes('"msg":"Activity completed"'));

    expect(await run('warn', '--for', '2h')).to.include({ code: 0 });
    expect(await minutesLeft()).to.be.within(110, 120);
    await reached('trace', 'warn');
    const silent = await request();
    expect(await run('default')).to.include({ code: 0, stdout: 'Each process has its LOG_LEVEL again.\n' });
    await reached('trace', 'warn', 'info');
    const logged = await request();
    await until(() => api.stack.readLog('api').includes(logged));
    expect(api.stack.readLog('api')).not.to.include(silent);

    await run('debug', '--for', '24h');
    await reached('trace', 'warn', 'info', 'debug');
    await api.database.db.updateTable('deployment').set({ log_level_until: sql<Date>`now() + interval '1 second'` }).execute();
    await reached('trace', 'warn', 'info', 'debug', 'info');
    const entries = await api.database.db
      .selectFrom('audit_entry')
      .select([
        'action',
        sql<string | null>`metadata->>'level'`.as('level'),
        sql<boolean>`(metadata->>'until')::timestamptz > now()`.as('ends'),
      ])
      .where('target_type', '=', 'deployment')
      .orderBy('id')
      .execute();
    const action = 'deployment.logLevel';
    expect(entries).to.deep.equal([
      ...['trace', 'warn'].map((level) => ({ action, level, ends: true })),
      { action, level: null, ends: null },
      { action, level: 'debug', ends: true },
    ]);
  }).timeout(120_000);

  it('is one that LOG_LEVEL takes, for a day at most', async () => {
    const refused: [string[], RegExp][] = [
      [[], /^log-level takes default, or one of fatal, /],
      [['loud'], /^log-level takes default/],
      [['debug', 'info'], /^Unexpected argument/],
      [['default', '--for', '30m'], /^log-level default takes no --for/],
      ...['0m', '25h', '1441m', '30', '-5m', '1d', ''].map((time): [string[], RegExp] => [
        ['debug', `--for=${time}`],
        /^--for takes a time/,
      ]),
    ];
    for (const [args, message] of refused) {
      const { code, stderr } = await run(...args);
      expect(code, args.join(' ')).to.equal(2);
      expect(stderr).to.match(message);
    }
  });
});
