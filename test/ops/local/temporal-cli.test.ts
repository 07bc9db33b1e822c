import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { createSupervisor, type Supervisor } from '../../../ops/local/supervise.ts';
import { findTemporalCli, temporalVersion } from '../../../ops/local/temporal-cli.ts';
import { makeTestDirectory, removeTestDirectory } from '../../support/directories.ts';

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

  it('builds it with go when it cannot be downloaded, also for two starts at the same time', async () => {
    const calls = join(directory, 'calls');
    const go = writeProgram(
      join(directory, 'bin', 'go'),
      `echo "$@" >> ${calls}; /bin/sleep 0.3; echo '#!/bin/sh' > "$GOBIN/temporal"; /bin/chmod +x "$GOBIN/temporal"`,
    );
    const notes: string[] = [];
    const found = await Promise.all([find([dirname(go)], notes), find([dirname(go)], notes)]);
    expect(found).to.deep.equal([cached(), cached()]);
    expect(readdirSync(dirname(cached()))).to.deep.equal(['temporal']);
    expect(new Set(readFileSync(calls, 'utf8').trim().split('\n'))).to.deep.equal(
      new Set([`install github.com/temporalio/cli/cmd/temporal@${temporalVersion}`]),
    );
    expect(notes.join('\n')).to.match(/downloading[\s\S]*go install/);
    // The next start takes it from there.
    expect(await find(noTools)).to.equal(cached());
  });

  it('says every way to get it when none worked', async () => {
    const failure = await find(noTools).catch((error: Error) => error);
    expect(failure)
      .to.have.property('message')
      .that.matches(/there is no `go` on PATH/);
    for (const way of ['PATH', cached(), 'install Go', 'TEMPORAL_ADDRESS', join(directory, 'fetch.log')])
      expect(failure).to.have.property('message').that.includes(way);
  });

  it('says that the cache cannot be written, and what names another', async () => {
    writeFileSync(join(directory, 'cache'), 'a file where the cache would be');
    const failure = await find(noTools).catch((error: Error) => error);
    expect(failure)
      .to.have.property('message')
      .that.matches(/cannot be kept in .* \(ENOTDIR\)\. .*XDG_CACHE_HOME/);
  });
});

function writeProgram(path: string, script: string): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  return path;
}
