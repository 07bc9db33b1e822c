import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import { expect } from 'chai';
import type { Environment } from '../../../base/config/environment.ts';
import { inheritedEnvironment, loadToolConfig } from '../../../base/config/local.ts';
import { findFreePorts, isPortBusy } from '../../../ops/local/ports.ts';
import { makeTestDirectory, removeTestDirectory } from '../../support/directories.ts';
import { nightly } from '../../support/nightly.ts';
import { childrenOf, endPrograms, findProcesses, isAlive, type Program, runProgram, until } from '../../support/processes.ts';

const variables = ['PORT', 'EMBEDDED_PG_PORT', 'EMBEDDED_TEMPORAL_PORT', 'AI_PORT'];

describe('npm start', () => {
  let dataDir: string;
  let env: Environment;
  const start = (more: Environment = {}): Program => runProgram(process.execPath, ['ops/local/start.ts'], { env: { ...env, ...more } });
  const untilUp = (program: Program) => program.printed(/is running\.[\s\S]*Ctrl-C\./, 60_000);

  beforeEach(async () => {
    dataDir = makeTestDirectory();
    const ports = await findFreePorts(variables.length);
    env = { CONSOLE: 'false', DATA_DIR: dataDir, ...Object.fromEntries(variables.map((name, index) => [name, String(ports[index])])) };
  });

  afterEach(async () => {
    endPrograms();
    await until(() => findProcesses(dataDir).length === 0);
    removeTestDirectory(dataDir);
  });

  it('brings everything up, says where, tells no secret, and leaves nothing on SIGTERM', async () => {
    const [metrics = 0] = await findFreePorts(1);
    const program = start({ METRICS_PORT: String(metrics) });
    await untilUp(program);
    const services = childrenOf(program.pid);
    expect(services.map(({ command }) => /guard\.sh|postgres |temporal |ai\/main|api\/main/.exec(command)?.[0]).sort()).to.deep.equal([
      'ai/main',
      'api/main',
      'guard.sh',
      'postgres ',
      'temporal ',
    ]);
    for (const url of [`http://localhost:${env.PORT}/api/v1`, `http://localhost:${Number(env.EMBEDDED_TEMPORAL_PORT) + 1000}`])
      expect(program.stdout()).to.include(url);
    expect((await fetch(`http://localhost:${env.PORT}/readyz`)).status).to.equal(200);
    expect((await fetch(`http://localhost:${Number(env.EMBEDDED_TEMPORAL_PORT) + 1000}`)).status).to.equal(200);
    for (const [port, name] of [
      [metrics, 'sheaf_http_requests'],
      [metrics + 1, 'sheaf_ai_service_requests'],
    ] as const)
      expect(await (await fetch(`http://localhost:${port}/metrics`)).text()).to.include(name);
    const secrets = readSecrets(dataDir);
    for (const secret of secrets) expect(program.stdout() + program.stderr()).not.to.include(secret);

    program.child.kill('SIGTERM');
    expect(await program.exited).to.deep.equal({ code: 0, signal: null });
    expect(services.filter(({ pid }) => isAlive(pid) && !isGuard(pid))).to.deep.equal([]);
    await until(() => !services.some(({ pid }) => isAlive(pid)));
  });

  nightly('refuses a second start on the same data, and keeps the data for a later one', async () => {
    const first = start();
    await untilUp(first);
    const token = await signUp(env);
    const secrets = readSecrets(dataDir);
    const second = start({ PORT: '1' });
    expect((await second.exited).code).to.equal(1);
    expect(second.stderr()).to.include(`already runs on ${dataDir} (process ${first.pid})`);
    first.child.kill('SIGINT');
    await first.exited;

    const third = start();
    await untilUp(third);
    expect(readSecrets(dataDir)).to.deep.equal(secrets);
    const me = await fetch(`http://localhost:${env.PORT}/api/v1/me`, { headers: { authorization: `Bearer ${token}` } });
    expect(await me.json()).to.include({ email: 'ada@example.com' });
  });

  nightly('builds the console beside the running service, once for its sources', async function () {
    this.timeout(240_000);
    const cache = makeTestDirectory();
    const { cacheDir } = loadToolConfig(inheritedEnvironment());
    mkdirSync(join(cache, 'sheaf'));
    for (const name of readdirSync(cacheDir)) if (name !== 'console') symlinkSync(join(cacheDir, name), join(cache, 'sheaf', name));
    const withConsole = { CONSOLE: 'true', XDG_CACHE_HOME: cache };
    const address = `http://localhost:${env.PORT}`;
    const first = start(withConsole);
    await untilUp(first);
    expect(first.stdout()).to.match(new RegExp(`Console +${address}`));
    await first.printed(/Building the console …\nThe console is ready \(.* s\): http/, 180_000);
    first.child.kill('SIGTERM');
    await first.exited;

    const second = start(withConsole);
    await untilUp(second);
    const page = await fetch(address, { headers: { accept: 'text/html' } });
    expect([page.status, await page.text()].join()).to.match(/^200,<!doctype html>.*<script/is);
    expect(second.stdout()).not.to.include('Building');
    second.child.kill('SIGTERM');
    await second.exited;
    removeTestDirectory(cache);
  });

  nightly('stops everything when one service crashes, and says which, with the end of its log', async () => {
    const program = start();
    await untilUp(program);
    const services = childrenOf(program.pid);
    const ai = services.find(({ command }) => command.includes('ai/main'));
    process.kill(ai?.pid ?? 0, 'SIGKILL');
    expect((await program.exited).code).to.equal(1);
    expect(program.stderr())
      .to.include('AI service was killed by SIGKILL')
      .and.include(join(dataDir, 'logs', 'ai.log'));
    expect(program.stderr()).to.include('is listening');
    await until(() => !services.some(({ pid }) => isAlive(pid)));
  });

  nightly('leaves nothing when it is killed by SIGKILL, and starts again right away', async () => {
    const program = start();
    await untilUp(program);
    const services = childrenOf(program.pid);
    program.child.kill('SIGKILL');
    await program.exited;
    const again = start();
    await untilUp(again);
    expect(services.filter(({ pid }) => isAlive(pid))).to.deep.equal([]);
  });

  it('ends a start that is under way', async () => {
    const program = start();
    await program.printed(/is ready/);
    const services = childrenOf(program.pid);
    program.child.kill('SIGINT');
    expect((await program.exited).code).to.equal(0);
    await until(() => !services.some(({ pid }) => isAlive(pid)));
    expect(program.stdout()).not.to.include('is running');
  });

  it('uses services that the environment names, and takes secrets from it', async () => {
    const { testPostgres } = await import('../../support/stack.ts');
    const { createEmptyDatabase } = await import('../../support/database.ts');
    await testPostgres();
    const database = await createEmptyDatabase();
    const secrets = { AUTH_SECRET: 'a secret of the environment, long enough', SERVICE_TOKEN: 'a token of the environment' };
    const program = start({ DATABASE_URL: database.url, ...secrets });
    await untilUp(program);
    expect(childrenOf(program.pid).some(({ command }) => command.includes('postgres '))).to.equal(false);
    expect(existsSync(join(dataDir, 'postgres'))).to.equal(false);
    const { rows } = await database.pool.query("select to_regclass('kysely_migration') is not null as migrated");
    expect(rows).to.deep.equal([{ migrated: true }]);
    const openapi = { headers: { 'X-Service-Token': secrets.SERVICE_TOKEN } };
    expect((await fetch(`http://localhost:${env.AI_PORT}/openapi.json`, openapi)).status).not.to.equal(401);
    program.child.kill('SIGTERM');
    await program.exited;
    await database.drop();
  });

  nightly('takes what the caller sets, and nothing that belongs to services elsewhere', async () => {
    const ofAnother = join(dataDir, 'of-another');
    writeFileSync(ofAnother, 'postgres://127.0.0.1:9/of-another');
    const program = start({
      WORKER_ENABLED: 'false',
      TEMPORAL_NAMESPACE: 'mine',
      TEMPORAL_UI_URL: 'https://temporal.example.com',
      TEMPORAL_API_KEY: 'a key of the cloud',
      // It would be migrated.
      DATABASE_DIRECT_URL_FILE: ofAnother,
      HOST: '127.0.0.2',
      LOG_LEVEL: 'warn',
      SERVICE_AUTH_DISABLED: 'true',
      METRICS_PORT: '',
    });
    await untilUp(program);
    const api = `http://127.0.0.2:${env.PORT}`;
    expect((await fetch(`${api}/readyz`)).status).to.equal(200);
    expect(program.stdout()).to.include('https://temporal.example.com').and.include(`${api}/api/v1`);
    expect(program.stdout()).to.include('WORKER_ENABLED=false').and.include('API is ready').and.not.include('API with worker');
    expect((await fetch(`http://127.0.0.1:${env.AI_PORT}/health`)).status).to.equal(200);
    const log = readFileSync(join(dataDir, 'logs', 'api.log'), 'utf8');
    expect(log).not.to.include('worker running').and.not.include('API listening');
    const connection = await Connection.connect({ address: `127.0.0.1:${env.EMBEDDED_TEMPORAL_PORT}` });
    const { namespaceInfo } = await connection.workflowService.describeNamespace({ namespace: 'mine' });
    await connection.close();
    expect(namespaceInfo?.name).to.equal('mine');
    program.child.kill('SIGTERM');
    expect((await program.exited).code).to.equal(0);

    // Another namespace on the same file, with a worker in it.
    const again = start({ TEMPORAL_NAMESPACE: 'another', WORKER_ENABLED: '', HOST: '' });
    await untilUp(again);
    expect(again.stdout()).to.include('API with worker is ready').and.include(`http://localhost:${env.PORT}/api/v1`);
  });

  nightly('refuses in production what the API refuses there, before anything is started', async () => {
    const secrets = { AUTH_SECRET: '', SERVICE_TOKEN: '' };
    const refused = start({ NODE_ENV: 'production', PORT: 'many', COOKIE_DOMAIN: 'no host', SERVICE_AUTH_DISABLED: 'true', ...secrets });
    expect((await refused.exited).code).to.equal(1);
    expect([...refused.stderr().matchAll(/^ {2}- (\w+): /gm)].map(([, name]) => name)).to.deep.equal([
      ...['PORT', 'COOKIE_DOMAIN', 'SMTP_URL', 'SERVICE_AUTH_DISABLED'],
    ]);
    expect(existsSync(join(dataDir, 'logs'))).to.equal(false);

    const program = start({ NODE_ENV: 'production', SMTP_URL: 'smtp://127.0.0.1:9', ...secrets });
    await untilUp(program);
    const answer = await fetch(`http://localhost:${env.PORT}/api/v1/auth-config`);
    expect(await answer.json()).to.include({ requireEmailVerification: true });
    // A sign-up alone would give no token there.
    await program.printed(/open the link of the mail[\s\S]*TOKEN=\$\(curl .*\/sign-in\/email/);
    // The demo cannot sign up there.
    await program.printed(/Stop: Ctrl-C/);
    expect(program.stdout()).not.to.include('npm run demo');
  });

  it('names every busy port, with the variable that chooses another, and starts nothing', async () => {
    const [metricsPort = 0] = await findFreePorts(1);
    const blockers = await Promise.all([env.PORT, env.AI_PORT, metricsPort].map((port) => block(Number(port))));
    const program = start({ METRICS_PORT: String(metricsPort) });
    expect((await program.exited).code).to.equal(1);
    for (const blocker of blockers) blocker.close();
    expect(program.stderr()).to.match(new RegExp(`port ${env.PORT} \\(the API\\): choose another with PORT\\n`));
    expect(program.stderr()).to.match(new RegExp(`port ${env.AI_PORT} \\(the AI service\\): choose another with AI_PORT\\n`));
    expect(program.stderr()).to.include(`port ${metricsPort} (metrics of the API): choose another with METRICS_PORT\n`);
    expect(program.stderr()).not.to.include('with EMBEDDED_PG_PORT');
    expect(existsSync(join(dataDir, 'postgres'))).to.equal(false);
  });

  it('gives no two of its services one port', async () => {
    const [port] = await findFreePorts(1);
    // The next one is that of the AI service's metrics.
    const program = start({ METRICS_PORT: String(port), EMBEDDED_PG_PORT: String(Number(port) + 1) });
    expect((await program.exited).code).to.equal(1);
    expect(program.stderr()).to.equal(`\nPort ${Number(port) + 1} is given to more than one service: EMBEDDED_PG_PORT is one of them.\n`);
  });

  it('sees a port that is busy on one interface only', async () => {
    for (const host of ['127.0.0.1', '0.0.0.0', '::']) {
      const blocker = await block(0, host);
      const { port } = blocker.address() as AddressInfo;
      expect(await isPortBusy(port), host).to.equal(true);
      await new Promise((resolve) => blocker.close(resolve));
      expect(await isPortBusy(port), host).to.equal(false);
    }
  });

  it('says at once that the data directory cannot be made', async () => {
    // A file has no directories below it.
    const path = `${process.execPath}/x`;
    const program = start({ DATA_DIR: path });
    expect((await program.exited).code).to.equal(1);
    expect(program.stderr()).to.equal(`\nThe data directory ${path} cannot be made (ENOTDIR). Choose another DATA_DIR.\n`);
  });

  it('says why the lock of the data directory cannot be used', async () => {
    writeFileSync(join(dataDir, 'lock'), 'no file of SQLite, and as long as the header of one is. '.repeat(10));
    const program = start();
    expect((await program.exited).code).to.equal(1);
    expect(program.stderr()).to.equal(
      `\nThe lock ${dataDir}/lock cannot be used (file is not a database). ` +
        "Is the disk full, the directory read-only or another user's, the file damaged?\n",
    );
  });
});

async function signUp(env: Environment): Promise<string> {
  const response = await fetch(`http://localhost:${env.PORT}/api/auth/sign-up/email`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Ada', email: 'ada@example.com', password: 'a long password' }),
  });
  expect(response.status).to.equal(200);
  return response.headers.get('set-auth-token') ?? '';
}

function readSecrets(dataDir: string): string[] {
  const file = join(dataDir, 'secrets.json');
  expect(statSync(file).mode & 0o777).to.equal(0o600);
  const secrets = Object.values(JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>);
  expect(secrets).to.have.length(2);
  return secrets;
}

function isGuard(pid: number): boolean {
  return findProcesses('guard.sh').some((found) => found.pid === pid);
}

function block(port: number, host = '127.0.0.1') {
  const server = createServer();
  return new Promise<typeof server>((resolve, reject) => server.once('error', reject).listen(port, host, () => resolve(server)));
}
