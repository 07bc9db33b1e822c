import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { createSupervisor, type Supervisor } from '../../local/supervise.ts';
import { findTemporalCli, temporalVersion } from '../../local/temporal-cli.ts';
import { makeTestDirectory, removeTestDirectory } from '../support/directories.ts';

// The system's own programs, without a `temporal` or a `go`.
const noTools = ['/nonexistent'];

describe('finding the Temporal CLI', () => {
  let directory: string;
  let supervisor: Supervisor;
  const proxy = process.env.HTTPS_PROXY;
  const cached = () => join(directory, 'cache', 'temporal', temporalVersion, 'temporal');
  const find = (path: string[], notes: string[] = []) =>
    findTemporalCli({
      supervisor,
      logFile: join(directory, 'fetch.log'),
      note: (message) => notes.push(message),
      tools: { path, cacheDir: join(directory, 'cache') },
      otherCacheDir: join(directory, 'other'),
    });

  beforeEach(() => {
    directory = makeTestDirectory();
    supervisor = createSupervisor();
    // No test may download the real one: nothing listens there.
    process.env.HTTPS_PROXY = 'http://127.0.0.1:9';
  });

  afterEach(async () => {
    if (proxy === undefined) delete process.env.HTTPS_PROXY;
    else process.env.HTTPS_PROXY = proxy;
    await supervisor.close();
    removeTestDirectory(directory);
  });

  it('takes the one on PATH before the cached one', async () => {
    writeProgram(cached(), 'true');
    const onPath = writeProgram(join(directory, 'bin', 'temporal'), 'echo "temporal version 1.2.3"');
    expect(await find([dirname(onPath)])).to.equal(onPath);
  });

  it('passes by a program of the same name that is not the Temporal CLI', async () => {
    writeProgram(cached(), 'true');
    const onPath = writeProgram(join(directory, 'bin', 'temporal'), 'echo "a calendar"');
    expect(await find([dirname(onPath)])).to.equal(cached());
  });

  it('builds it with go once, for two starts at the same time, when it cannot be downloaded', async () => {
    const calls = join(directory, 'calls');
    const go = writeProgram(
      join(directory, 'bin', 'go'),
      `echo "$@" >> ${calls}; /bin/sleep 0.3; echo '#!/bin/sh' > "$GOBIN/temporal"; /bin/chmod +x "$GOBIN/temporal"`,
    );
    const notes: string[] = [];
    const found = await Promise.all([find([dirname(go)], notes), find([dirname(go)], notes)]);
    expect(found).to.deep.equal([cached(), cached()]);
    expect(existsSync(cached())).to.equal(true);
    expect(readFileSync(calls, 'utf8')).to.equal(`install github.com/temporalio/cli/cmd/temporal@${temporalVersion}\n`);
    expect(notes.join('\n')).to.match(/downloading[\s\S]*go install/);
    expect(notes.join('\n')).to.include('waiting for another start');
  });

  it('says every way to get it when none worked', async () => {
    const failure = await find(noTools).catch((error: Error) => error);
    expect(failure)
      .to.have.property('message')
      .that.matches(/there is no `go` on PATH/);
    for (const way of ['PATH', cached(), 'install Go', 'TEMPORAL_ADDRESS', join(directory, 'fetch.log')])
      expect(failure).to.have.property('message').that.includes(way);
  });

  it('keeps it elsewhere when the cache cannot be written', async () => {
    writeFileSync(join(directory, 'cache'), 'a file where the cache would be');
    const go = writeProgram(join(directory, 'bin', 'go'), `echo > "$GOBIN/temporal"; /bin/chmod +x "$GOBIN/temporal"`);
    expect(await find([dirname(go)])).to.equal(join(directory, 'other', 'temporal', temporalVersion, 'temporal'));
  });

  describe('with caches of Go that are', () => {
    const { HOME: home, GOCACHE: named, GOFLAGS: flags } = process.env;
    const seen = () => readFileSync(join(directory, 'seen'), 'utf8');
    const writeGo = () =>
      writeProgram(
        join(directory, 'bin', 'go'),
        `echo "$GOCACHE $GOMODCACHE $GOFLAGS" > ${join(directory, 'seen')}; echo > "$GOBIN/temporal"; /bin/chmod +x "$GOBIN/temporal"`,
      );
    const restore = (name: string, value: string | undefined) => {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    };

    beforeEach(() => {
      delete process.env.GOCACHE;
      delete process.env.GOFLAGS;
      process.env.HOME = directory;
    });
    afterEach(() => {
      restore('HOME', home);
      restore('GOCACHE', named);
      restore('GOFLAGS', flags);
    });

    it('in a home that can be written, leaves them there', async () => {
      await find([dirname(writeGo())]);
      expect(seen()).to.equal(` ${process.env.GOMODCACHE ?? ''} ${process.env.GOFLAGS ?? ''}\n`);
    });

    it('in a home that cannot be written, keeps them elsewhere, but for one that is named', async () => {
      process.env.HOME = writeProgram(join(directory, 'no-directory'), 'true').concat('/home');
      const go = join(directory, 'other', 'go');
      await find([dirname(writeGo())]);
      expect(seen()).to.equal(`${join(go, 'build')} ${process.env.GOMODCACHE ?? join(go, 'mod')} -modcacherw\n`);
      removeTestDirectory(join(directory, 'cache'));
      process.env.GOCACHE = '/named';
      await find([dirname(writeGo())]);
      expect(seen()).to.match(/^\/named /);
    });

    it('beside a cache that cannot be written, keeps them elsewhere', async () => {
      writeFileSync(join(directory, 'cache'), 'a file where the cache would be');
      await find([dirname(writeGo())]);
      expect(seen()).to.match(new RegExp(`^${join(directory, 'other', 'go', 'build')} `));
    });
  });
});

function writeProgram(path: string, script: string): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  return path;
}
