import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Environment } from '../../base/config/environment.ts';
import { findFreePorts } from '../../ops/local/ports.ts';
import { runDemo, startDemo } from '../docs/support/run-demo.ts';
import { makeTestDirectory, removeTestDirectory } from '../support/directories.ts';
import { nightly } from '../support/nightly.ts';
import { findProcesses, runProgram, until } from '../support/processes.ts';
import { withTimes } from '../support/times.ts';

describe('npm run demo, without a service named', () => {
  let dataDir: string;
  let env: Environment;
  let file: string;

  before(async () => {
    dataDir = makeTestDirectory();
    file = join(dataDir, 'note.txt');
    writeFileSync(file, 'The bell of the ferry rings twice before it leaves the pier in the morning.');
    env = { DATA_DIR: dataDir, ...(await freePorts()) };
  });
  after(() => removeTestDirectory(dataDir));

  it('starts a service for its time, and leaves no process behind', async () => {
    const { code, stdout, stderr } = await runDemo(['--json', file], env);
    expect(code, stderr).to.equal(0);
    expect(JSON.parse(stdout).documents[0]).to.include({ name: 'note.txt', status: 'ready', chunkCount: 1 });
    expect(JSON.parse(stdout).jobs[0].workflowUrl).to.match(new RegExp(`^http://localhost:${Number(env.EMBEDDED_TEMPORAL_PORT) + 1000}/`));
    expect(stderr).to.include('starting one for the time of the demo').and.include('API with worker is ready');
    await until(() => findProcesses(dataDir).length === 0);
  });

  it('leaves no process behind when Ctrl-C comes while it starts one', async () => {
    const demo = startDemo([file], env);
    await demo.printed(/Postgres is ready/);
    demo.child.kill('SIGINT');
    expect(await demo.exited).to.deep.equal({ code: 130, signal: null });
    expect(demo.stderr()).to.equal('');
    await until(() => findProcesses(dataDir).length === 0);
  });

  it('says which part cannot start, and why', async () => {
    const { code, stdout, stderr } = await runDemo(
      ['--json', file],
      withTimes({ databaseWait: 1_000 }, { ...env, DATABASE_URL: 'postgres://127.0.0.1:9/nowhere' }),
    );
    expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '' });
    expect(stderr).to.include('The API exited with code 1 before it was ready').and.include('ECONNREFUSED');
    await until(() => findProcesses(dataDir).length === 0);
  });

  nightly('waits for a service that is starting on the data directory, and uses it wherever it listens', async () => {
    const service = runProgram(process.execPath, ['ops/local/start.ts'], { env });
    await service.printed(/is ready/, 60_000);
    const { code, stdout, stderr } = await runDemo(['--json', file], { ...env, ...(await freePorts()) });
    expect(code, stderr).to.equal(0);
    expect(stderr).to.include(`Waiting for what starts or stops on ${dataDir} (process ${service.pid})`);
    expect(stderr).to.include(`at http://localhost:${env.PORT}`);
    expect(JSON.parse(stdout).jobs[0].workflowUrl).to.match(new RegExp(`^http://localhost:${Number(env.EMBEDDED_TEMPORAL_PORT) + 1000}/`));
    expect(service.child.exitCode).to.equal(null);
    service.child.kill('SIGINT');
    expect((await service.exited).code).to.equal(0);
  });
});

async function freePorts(): Promise<Environment> {
  const names = ['PORT', 'EMBEDDED_PG_PORT', 'EMBEDDED_TEMPORAL_PORT', 'AI_PORT'];
  const ports = await findFreePorts(names.length);
  return Object.fromEntries(names.map((name, index) => [name, String(ports[index])]));
}
