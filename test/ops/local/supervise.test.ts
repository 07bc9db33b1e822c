import { join } from 'node:path';
import { expect } from 'chai';
import { createSupervisor, type Supervisor } from '../../../ops/local/supervise.ts';
import { makeTestDirectory, removeTestDirectory } from '../../support/directories.ts';
import { endPrograms, isAlive, runProgram, until } from '../../support/processes.ts';

describe('a supervisor', () => {
  let directory: string;
  let supervisor: Supervisor;
  const run = (script: string, options: { graceMs?: number } = {}) =>
    supervisor.run({ name: 'Shell', command: '/bin/sh', args: ['-c', script], logFile: join(directory, 'shell.log'), ...options });

  beforeEach(() => {
    directory = makeTestDirectory();
    supervisor = createSupervisor();
  });

  afterEach(async () => {
    endPrograms();
    await supervisor.close();
    removeTestDirectory(directory);
  });

  it('gives the exit code and the output of a program', async () => {
    const running = run('echo out; echo err >&2; exit 3');
    expect(await running.exited).to.deep.equal({ code: 3, signal: null });
    expect(running.readLog()).to.equal('out\nerr\n');
  });

  it('kills a program that does not stop within its grace, with what that started', async () => {
    const running = run('trap "" TERM; sleep 60 & echo $!; while :; do sleep 0.1; done', { graceMs: 200 });
    await until(() => running.readLog() !== '');
    const grandchild = Number(running.readLog());
    expect((await running.stop()).signal).to.equal('SIGKILL');
    await until(() => !isAlive(grandchild));
  });

  it('stops a program that was suspended', async () => {
    const running = run('trap "exit 5" TERM; echo set; while :; do sleep 0.1; done', { graceMs: 5000 });
    await until(() => running.readLog() !== '');
    running.signal('SIGSTOP');
    expect((await running.stop()).code).to.equal(5);
  });

  it('fails at once, with the end of the log, when a program ends before it is ready', async () => {
    const running = run('echo the reason; exit 1');
    const failure = await supervisor.waitUntilReady(running, async () => false, 20_000).catch((error: Error) => error);
    expect(failure)
      .to.have.property('message')
      .that.matches(/Shell exited with code 1 before it was ready[\s\S]*the reason/);
  });

  it('starts nothing more once it is closed', async () => {
    const running = run('sleep 60');
    await supervisor.close();
    expect(isAlive(running.pid)).to.equal(false);
    expect(() => run('true')).to.throw('not started');
    await until(() => !isAlive(supervisor.guardPid));
  });

  it('leaves not even a program that ignores SIGTERM when it is killed itself', async () => {
    const script = `
      import { createSupervisor } from './ops/local/supervise.ts';
      const running = createSupervisor().run({ name: 'Shell', command: '/bin/sh', args: ['-c', 'trap "" TERM; sleep 61 & wait; sleep 61'] });
      console.log('pid', running.pid);
      setInterval(() => undefined, 60_000);`;
    const holder = runProgram(process.execPath, ['--input-type=module-typescript', '--eval', script]);
    const pid = Number((await holder.printed(/pid (\d+)\n/))[1]);
    process.kill(holder.pid, 'SIGKILL');
    await until(() => !isAlive(pid));
  });
});
