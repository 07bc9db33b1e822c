import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { makeTestDirectory, removeTestDirectory } from '../../support/directories.ts';
import { endPrograms, type Program, runProgram, until } from '../../support/processes.ts';

// Stands in for npm, whose install takes most of a minute: it takes a second, and writes what `npm ci` writes last.
const npm = `#!/bin/sh
echo "$*" >> npm-calls
rm -rf node_modules && mkdir node_modules
echo "npm talks to standard output"
sleep 1 >/dev/null 2>&1 & wait $!
echo > node_modules/.package-lock.json
`;

describe('ops/local/run.sh', () => {
  let project: string;
  const installed = () => join(project, 'node_modules', '.package-lock.json');
  const installs = () =>
    existsSync(join(project, 'npm-calls')) ? readFileSync(join(project, 'npm-calls'), 'utf8').trim().split('\n').length : 0;
  const run = (...args: string[]): Program => {
    // Node 24, which runs this test, stands in for the user's own.
    const PATH = `${join(project, 'bin')}:${join(process.execPath, '..')}:/usr/bin:/bin`;
    return runProgram('/bin/sh', ['ops/local/run.sh', 'print.ts', ...args], { cwd: project, env: { PATH } });
  };

  beforeEach(() => {
    project = makeTestDirectory();
    for (const directory of ['ops/local', 'bin']) mkdirSync(join(project, directory), { recursive: true });
    copyFileSync('ops/local/run.sh', join(project, 'ops/local', 'run.sh'));
    writeFileSync(join(project, 'bin', 'npm'), npm);
    chmodSync(join(project, 'bin', 'npm'), 0o755);
    writeFileSync(join(project, 'package-lock.json'), '{}');
    writeFileSync(join(project, 'print.ts'), 'const out: string[] = process.argv.slice(2);\nconsole.log(process.pid, ...out);\n');
  });

  afterEach(() => {
    endPrograms();
    removeTestDirectory(project);
  });

  it('installs first, and leaves standard output to the program that it becomes', async () => {
    const program = run('--json', 'two words');
    expect((await program.exited).code).to.equal(0);
    expect(program.stdout()).to.equal(`${program.pid} --json two words\n`);
    expect(program.stderr()).to.include('npm talks');
    // The development packages, too, whatever NODE_ENV and npm are told.
    expect(readFileSync(join(project, 'npm-calls'), 'utf8')).to.match(/^ci --include=dev /);
    expect(existsSync(join(project, '.install.lock'))).to.equal(false);
  });

  it('installs again only when the lock file is newer', async () => {
    await run().exited;
    await run().exited;
    expect(installs()).to.equal(1);
    const later = Date.now() / 1000 + 10;
    utimesSync(join(project, 'package-lock.json'), later, later);
    await run().exited;
    expect(installs()).to.equal(2);
  });

  it('installs anew where Node was left out, as npm does under NODE_ENV=production', async () => {
    // The machine's own is too old; npm brings this test's.
    writeFileSync(join(project, 'bin', 'node'), '#!/bin/sh\nexit 1\n');
    chmodSync(join(project, 'bin', 'node'), 0o755);
    const brings = `mkdir -p node_modules/node/bin && ln -s ${process.execPath} node_modules/node/bin/node\n`;
    writeFileSync(join(project, 'bin', 'npm'), `${npm}${brings}`);
    mkdirSync(join(project, 'node_modules'));
    writeFileSync(installed(), '');
    const programs = [run('one'), run('two')];
    expect((await Promise.all(programs.map((program) => program.exited))).map(({ code }) => code)).to.deep.equal([0, 0]);
    expect(installs()).to.equal(1);
    await run().exited;
    expect(installs()).to.equal(1);
  });

  it('says that Node is missing when npm was told not to bring it', async () => {
    writeFileSync(join(project, 'bin', 'node'), '#!/bin/sh\nexit 1\n');
    chmodSync(join(project, 'bin', 'node'), 0o755);
    writeFileSync(join(project, 'bin', 'npm'), `${npm}mkdir node_modules/node\n`);
    const program = run();
    expect((await program.exited).code).to.equal(1);
    expect(program.stderr()).to.include('Node 24 is missing').and.include('ignore-scripts');
    expect(installs()).to.equal(1);
  });

  it('installs nothing through a link, since npm would empty what it leads to', async () => {
    const elsewhere = makeTestDirectory();
    writeFileSync(join(elsewhere, 'kept'), '');
    symlinkSync(elsewhere, join(project, 'node_modules'));
    const program = run();
    expect((await program.exited).code).to.equal(1);
    expect(program.stderr()).to.include('node_modules is a link');
    expect(installs()).to.equal(0);
    expect(existsSync(join(elsewhere, 'kept'))).to.equal(true);
    removeTestDirectory(elsewhere);
  });

  it('installs once for two starts at the same time', async () => {
    const programs = [run('one'), run('two')];
    await Promise.all(programs.map((program) => program.exited));
    expect(programs.map((program) => program.stdout())).to.deep.equal(
      programs.map(({ pid }, index) => `${pid} ${['one', 'two'][index]}\n`),
    );
    expect(installs()).to.equal(1);
  });

  it('leaves no lock when it is ended during an install', async () => {
    const ended = run();
    await until(() => existsSync(join(project, 'node_modules')));
    process.kill(ended.pid, 'SIGTERM');
    expect((await ended.exited).code).to.equal(130);
    expect(existsSync(join(project, '.install.lock'))).to.equal(false);
    expect((await run('one').exited).code).to.equal(0);
  });

  it('passes on that npm failed, and does not start', async () => {
    writeFileSync(join(project, 'bin', 'npm'), '#!/bin/sh\nexit 7\n');
    const program = run();
    expect((await program.exited).code).to.equal(7);
    expect(program.stdout()).to.equal('');
    expect(program.stderr()).to.include('could not be installed');
  });
});
