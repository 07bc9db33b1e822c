import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { findIsolation } from '../../ai/sandbox/isolation.ts';
import { ProcessPool } from '../../ai/sandbox/process-pool.ts';
import { makeTestDirectory, removeTestDirectory } from '../support/directories.ts';
import { childrenOf } from '../support/processes.ts';

const secret = 'the-token-of-the-service';
const isRoot = process.getuid?.() === 0;
const refused = [
  ...['connect', 'fetch', 'environOfParent', 'environOfParentByTask', 'memoryOfParent', 'passwords', 'processes', 'dataDirectory'],
  ...['configuration', 'write', 'overwrite', 'changeCode', 'spawn', 'execute', 'addOn'],
  ...['readInThread', 'spawnInThread', 'database', 'connectBelow', 'askNameServer', 'lookUp'],
];

describe('A reader of documents that a document has taken over', () => {
  let pool: ProcessPool;
  let server: Server;
  let directory: string;
  let file: string;
  let requests = 0;
  before(async () => {
    directory = makeTestDirectory();
    file = join(directory, 'object');
    writeFileSync(file, secret);
    process.env.SECRET_OF_THE_SERVICE = secret;
    server = createServer((_request, response) => response.end(String(++requests)));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const entry = new URL('./support/hostile-child.ts', import.meta.url);
    pool = new ProcessPool({ entry, size: 2, heapMegabytes: 64, memoryBytes: 512 * 2 ** 20 });
  });
  after(async () => {
    delete process.env.SECRET_OF_THE_SERVICE;
    await pool.close();
    server.close();
    removeTestDirectory(directory);
  });

  const attempt = (name: string, more = {}) => {
    const { port } = server.address() as AddressInfo;
    return pool.run<{ got?: unknown; refused?: string }>('attempt', { name, port, file, ...more }, { timeoutMs: 10_000 });
  };

  for (const name of refused) {
    it(`is refused: ${name}`, async () => {
      const answer = await attempt(name);
      expect(answer).to.have.property('refused');
      expect(answer.refused).to.match(/^ERR_ACCESS_DENIED|^ERR_DLOPEN_DISABLED|^ERR_UNKNOWN_BUILTIN_MODULE|no network|fetch failed/);
    });
  }

  it('finds nothing in its own environment but what every reader has', async () => {
    expect(await attempt('environ')).to.deep.equal({ got: ['ORT_DISABLE_TELEMETRY'] });
  });

  it('has changed nothing, and reached nobody', async () => {
    expect(readFileSync(file, 'utf8')).to.equal(secret);
    expect(requests).to.equal(0);
  });

  if (findIsolation().missing.length === 0) {
    it('has no network below its own code either, since it has a namespace of its own', async () => {
      expect(await attempt('networks')).to.deep.equal({ got: [] });
    });
  }

  if (findIsolation().missing.length === 0) {
    it('may not see the memory and the environment of its parent below its own code either', () => {
      const environ = `/proc/${process.pid}/environ`;
      expect(readFileSync(environ, 'utf8')).to.contain('PATH=');
      const [program = '', ...before] = [...findIsolation().command(2 ** 29), '/bin/cat', environ];
      expect(spawnSync(program, before, { encoding: 'utf8' })).to.include({ status: 1, stdout: '' });
    });
  }

  if (!isRoot && findIsolation().missing.length === 0) {
    it('makes no namespace in which it would have rights', () => {
      const [program = '', ...before] = [...findIsolation().command(2 ** 29), '/usr/bin/unshare', '--user', 'true'];
      expect(spawnSync(program, before, { encoding: 'utf8' }).stderr).to.contain('Operation not permitted');
    });
  }

  (process.platform === 'linux' ? it : it.skip)('has limits of its own', async () => {
    const { got } = await attempt('limits');
    const hard = (name: string) => (got as Record<string, { hard: unknown }>)[name]?.hard;
    expect([hard('file_size_blocks'), hard('core_file_size_blocks'), hard('open_files')]).to.deep.equal([0, 0, 256]);
    expect(hard('data_seg_size_bytes')).to.equal(512 * 2 ** 20 + 2 ** 31);
    if (isRoot) expect(hard('max_user_processes')).to.equal(64);
  });

  if (isRoot && findIsolation().missing.length === 0) {
    it('is another user than its parent and than other readers, and may not touch them', async () => {
      const [one, other] = await Promise.all([attempt('user'), attempt('user')]);
      for (const { got } of [one, other]) expect(got).to.be.within(61_184, 65_183);
      expect(one.got).not.to.equal(other.got);
      expect((await attempt('killParent')).refused).to.match(/EPERM/);
      const readers = childrenOf(process.pid).filter(({ command }) => command.includes('hostile-child.ts'));
      expect(readers).to.have.length(2);
      for (const { pid } of readers) {
        // Both are asked at once, and one of them is itself.
        const tried = await Promise.all([attempt('killProcess', { pid }), attempt('killProcess', { pid })]);
        expect(tried.filter(({ refused = '' }) => refused.includes('EPERM'))).to.have.length(1);
      }
    });
  }
});

// The tests above, by a user who may not become another one. Only where this one may read the repository.
const asNobody = ['--reuid=65534', '--regid=65534', '--clear-groups', process.execPath];
const isReadable = () => spawnSync('setpriv', [...asNobody, '--check', fileURLToPath(import.meta.url)]).status === 0;
if (isRoot && isReadable()) {
  describe('A reader of a service without root that a document has taken over', () => {
    it('is refused the same', () => {
      const mocha = fileURLToPath(import.meta.resolve('mocha/bin/mocha.js'));
      const run = spawnSync('setpriv', [...asNobody, mocha, '--reporter=json', fileURLToPath(import.meta.url)], { encoding: 'utf8' });
      const { stats, failures } = JSON.parse(run.stdout.slice(run.stdout.indexOf('{')));
      expect(failures).to.deep.equal([]);
      expect(stats.passes).to.be.at.least(refused.length);
    });
  });
}

describe('A task whose processes are killed', () => {
  let pool: ProcessPool;
  before(() => {
    const entry = new URL('./support/hostile-child.ts', import.meta.url);
    pool = new ProcessPool({ entry, size: 1, heapMegabytes: 64, memoryBytes: 512 * 2 ** 20 });
  });
  after(() => pool.close());

  it('fails for good when the second one was killed at it', async () => {
    const failure = await pool.run('die', { afterMs: 20 }, { timeoutMs: 10_000 }).catch((error: unknown) => error);
    expect(failure).to.include({ name: 'TaskFailure', reason: 'deadly' });
    expect(await pool.run('attempt', { name: 'environ' }, { timeoutMs: 10_000 })).to.deep.equal({ got: ['ORT_DISABLE_TELEMETRY'] });
  });
});
