import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect } from 'chai';
import type { Environment } from '../../../base/config/environment.ts';
import { variables } from '../../../base/config/variables.ts';
import { findFreePorts } from '../../../ops/local/ports.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { makeTestDirectory, removeTestDirectory } from '../../support/directories.ts';
import { nightly } from '../../support/nightly.ts';
import { endPrograms, type Program, runProgram, until } from '../../support/processes.ts';
import { startTcpProxy } from '../../support/tcp-proxy.ts';
import { createTestNamespace, type TestNamespace } from '../../support/temporal.ts';
import { withTimes } from '../../support/times.ts';

const programs = { api: variables.server, worker: variables.server, ai: variables.aiService };

/** Nothing of what this process was given. */
const nothing: Environment = Object.fromEntries(Object.values(programs).flatMap((names) => names.map((name) => [name, ''])));

describe('With NODE_ENV=production and only what production demands', () => {
  let database: TestDatabase;
  let temporal: TestNamespace;
  let directory: string;
  let url: string;
  let demanded: Environment;
  /** Where this machine has room for it, which production does not care about. */
  let place: Environment;

  const start = (program: keyof typeof programs, env: Environment): Program =>
    runProgram(process.execPath, [`${program}/main.ts`], { env: { ...nothing, NODE_ENV: 'production', ...env } });

  before(async () => {
    [database, temporal] = await Promise.all([createTestDatabase({ poolSize: 2 }), createTestNamespace()]);
    directory = makeTestDirectory();
    const [port, aiPort] = await findFreePorts(2);
    url = `http://localhost:${port}`;
    demanded = {
      DATABASE_URL: database.url,
      AUTH_SECRET: randomBytes(32).toString('hex'),
      SERVICE_TOKEN: randomBytes(32).toString('hex'),
      SMTP_URL: 'smtp://127.0.0.1:9',
    };
    place = {
      PORT: String(port),
      AI_PORT: String(aiPort),
      DATA_DIR: directory,
      TEMPORAL_ADDRESS: temporal.address,
      TEMPORAL_NAMESPACE: temporal.namespace,
    };
  });
  after(async () => {
    await temporal.close();
    await database.drop();
    removeTestDirectory(directory);
  });
  afterEach(endPrograms);

  async function stop(program: Program): Promise<void> {
    program.child.kill('SIGTERM');
    expect((await program.exited).code).to.equal(0);
  }

  nightly('the API and the worker wait while Postgres is away, and run once it is there', async () => {
    const there = new URL(database.url);
    const proxy = await startTcpProxy({ host: there.hostname, port: Number(there.port) });
    await proxy.cut();
    there.host = `127.0.0.1:${proxy.port}`;
    const env = { ...demanded, ...place, DATABASE_URL: there.href };
    try {
      const api = start('api', { ...env, WORKER_ENABLED: 'false' });
      const worker = start('worker', env);
      await api.printed(/"the database cannot be reached; this start waits for it"/);
      await worker.printed(/"the outbox relay could not read its table"/);
      await proxy.mend();
      await Promise.all([api.printed(/"API listening"/), worker.printed(/"worker running"/)]);
      await Promise.all([stop(api), stop(worker)]);
    } finally {
      await proxy.stop();
    }
  });

  it('the API stops at SIGTERM while it waits for Postgres, as a container does only if it handles the signal', async () => {
    const api = start('api', { ...demanded, ...place, DATABASE_URL: 'postgres://nobody@127.0.0.1:9/none' });
    await api.printed(/"the database cannot be reached; this start waits for it"/);
    await stop(api);
  });

  it('the API boots, with the defaults of production', async () => {
    const api = start('api', { ...demanded, ...place, PLAN_FREE_MEMBERS: '7' });
    await api.printed(/"worker running"/);
    expect(api.stdout()).to.match(/"level":40.*"ignored":\["PLAN_FREE_MEMBERS"\]/);
    const get = (path: string, headers: Record<string, string> = {}) => fetch(`${url}${path}`, { headers });
    expect((await get('/readyz')).status).to.equal(200);
    expect(await (await get('/api/v1/auth-config')).json()).to.include({ requireEmailVerification: true });

    const allowed = async (origin: string) => (await get('/api/v1/auth-config', { origin })).headers.get('access-control-allow-origin');
    expect(await allowed('tauri://localhost')).to.equal('tauri://localhost');
    expect(await allowed('http://localhost:5173')).to.equal(null);

    const signUp = (origin?: string) =>
      fetch(`${url}/api/auth/sign-up/email`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...(origin ? { origin } : {}) },
        body: JSON.stringify({ name: 'Ada', email: 'ada@example.com', password: 'a long password' }),
      });
    expect((await signUp('http://localhost:5173')).status).to.equal(403);
    const signedUp = await signUp();
    expect(signedUp.status).to.equal(200);
    expect(signedUp.headers.get('set-auth-token'), 'signed in before the address is verified').to.equal(null);
    await until(async () => (await database.pool.query("select 1 from mail where kind = 'verification'")).rowCount === 1);
    await stop(api);
  });

  nightly('the API warns of limits that each process counts alone, if it is told to count so', async () => {
    const warning = /"level":40.*LIMITER_STORE is memory/;
    for (const [LIMITER_STORE, warns] of [['memory', true] as const, ['', false] as const]) {
      const api = start('api', { ...demanded, ...place, LIMITER_STORE, WORKER_ENABLED: 'false', SHUTDOWN_DELAY_MS: '0' });
      await api.printed(/"API listening"/);
      expect(warning.test(api.stdout()), `LIMITER_STORE='${LIMITER_STORE}'`).to.equal(warns);
      await stop(api);
    }
  });

  it('each program that cannot start says why in a line of its log, and in nothing else', async () => {
    const busy = createServer().listen(0);
    await once(busy, 'listening');
    const { port } = busy.address() as AddressInfo;
    const startAt = (changes: Partial<URL>, databaseWait = 600_000) => {
      const { href } = Object.assign(new URL(database.url), changes);
      return start('api', withTimes({ databaseWait }, { ...demanded, ...place, DATABASE_URL: href }));
    };
    const failing: [Program, RegExp][] = [
      [startAt({ password: 'wrong' }), /password authentication failed/],
      [startAt({ password: '' }), /SASL: .*password must be a/],
      [startAt({ search: 'sslmode=no-verify' }), /does not support SSL/],
      [startAt({ port: '9' }, 1_500), /ECONNREFUSED/],
      [start('worker', { ...demanded, ...place, METRICS_PORT: String(port) }), /EADDRINUSE/],
    ];
    for (const [program, reason] of failing) {
      expect((await program.exited).code).to.equal(1);
      const last = program.stdout().trim().split('\n').at(-1) ?? '';
      expect(JSON.parse(last)).to.include({ level: 60, msg: 'the process ends: an error was not caught' });
      expect(last).to.match(reason);
      expect(program.stderr()).to.equal('');
    }
    busy.close();
  });

  nightly('the worker boots', async () => {
    const worker = start('worker', { ...demanded, ...place });
    await worker.printed(/"worker running"/);
    await stop(worker);
  });

  nightly('the AI service boots, and asks for its secret', async () => {
    const ai = start('ai', { SERVICE_TOKEN: demanded.SERVICE_TOKEN, AI_PORT: place.AI_PORT, REMOTE_AI_CHAT_KEY: 'a former key' });
    const at = `http://127.0.0.1:${place.AI_PORT}`;
    await until(() =>
      fetch(`${at}/health`).then(
        ({ ok }) => ok,
        () => false,
      ),
    );
    const embed = (headers: Record<string, string>) => fetch(`${at}/v1/embed`, { method: 'POST', headers, body: '{"texts":["one"]}' });
    expect((await embed({ 'content-type': 'application/json' })).status).to.equal(401);
    expect((await embed({ 'content-type': 'application/json', 'x-service-token': demanded.SERVICE_TOKEN ?? '' })).status).to.equal(200);
    expect(ai.stdout())
      .to.match(/"ignored":\["REMOTE_AI_CHAT_KEY"\]/)
      .and.not.include('a former key');
    await stop(ai);
  });

  for (const program of ['api', 'worker'] as const)
    it(`the ${program} does not boot without any of it, and names each in a sentence, without a stack`, async () => {
      const refused = start(program, { ...place, ...Object.fromEntries(Object.keys(demanded).map((name) => [name, '   '])) });
      expect((await refused.exited).code).to.equal(1);
      const [head, ...problems] = refused.stderr().trimEnd().split('\n');
      expect(head).to.equal('The configuration has problems:');
      expect(problems.map((problem) => /^ {2}- (\w+): .+/.exec(problem)?.[1])).to.have.members(Object.keys(demanded));
    });

  nightly('the AI service does not boot without its secret, whatever SERVICE_AUTH_DISABLED says', async () => {
    for (const env of [{ SERVICE_TOKEN: '   ' }, { SERVICE_AUTH_DISABLED: 'true' }, { ...demanded, SERVICE_AUTH_DISABLED: 'true' }]) {
      const refused = start('ai', { ...env, AI_PORT: place.AI_PORT });
      expect((await refused.exited).code).to.equal(1);
      expect(refused.stderr()).to.match(/problem:\n {2}- SERVICE_/);
    }
  });
});
