import { type AddressInfo, createServer } from 'node:net';
import { expect } from 'chai';
import { findIsolation } from '../../../ai/sandbox/isolation.ts';
import { findFreePorts } from '../../../ops/local/ports.ts';
import { startStack } from '../../../ops/local/stack.ts';
import { isReached, readMissingIsolation } from '../../lab/containers/check-confinement.ts';
import { listNeededImages } from '../../lab/containers/images.ts';
import { tryCommand } from '../../lab/containers/run-command.ts';
import { recipes } from '../../lab/containers/stand-ins/recipes.ts';
import { makeTestDirectory, removeTestDirectory } from '../../support/directories.ts';
import { runProgram, until } from '../../support/processes.ts';

describe('npm run test:containers', () => {
  it('says how to get a container engine where there is none', async () => {
    const empty = makeTestDirectory();
    const program = runProgram(process.execPath, ['test/lab/containers/main.ts'], { env: { PATH: empty } });
    const { code } = await program.exited;
    removeTestDirectory(empty);
    expect({ code, stdout: program.stdout() }).to.deep.equal({ code: 2, stdout: '' });
    expect(program.stderr())
      .to.match(/^No container engine: /)
      .and.include('apt-get install docker.io')
      .and.include('docker-compose');
  });

  it('takes only an attempt that failed to connect for a network that is cut, not one that could not be made', async () => {
    const server = createServer((socket) => socket.end());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const [free = 0] = await findFreePorts(1);
    /** A container in which `node` is this one, or absent. */
    const container = (node: string) => ({ exec: (_service: string, _node: string, ...args: string[]) => tryCommand(node, args) });
    try {
      const here = container(process.execPath);
      expect(await isReached(here, 'ai', `127.0.0.1:${port}`)).to.equal(true);
      expect(await isReached(here, 'ai', `127.0.0.1:${free}`)).to.equal(false);
      for (const broken of [container('/nowhere/node'), container('/bin/false')]) {
        const failure = await isReached(broken, 'ai', `127.0.0.1:${port}`).catch((error: Error) => error.message);
        expect(failure).to.match(/^ai could not try 127\.0\.0\.1:\d+, and ended with/);
      }
    } finally {
      server.close();
    }
  });

  it('reads from the log of an AI service what its readers are not kept from, and nothing from any other', async () => {
    const dataDir = makeTestDirectory();
    const stack = await startStack({ dataDir, services: ['ai'] });
    try {
      // It answers before its log is written.
      await until(() => stack.readLog('ai').includes('The AI service is listening.'));
      expect(readMissingIsolation(stack.readLog('ai'))).to.deep.equal(findIsolation().missing);
    } finally {
      await stack.stop();
      removeTestDirectory(dataDir);
    }
    for (const log of ['', 'no such service: ai\n', '{"msg":"another"}\n'])
      expect(() => readMissingIsolation(log)).to.throw('does not say that it has started');
    const log = '{"missing":["the rights of root"]}\n{"msg":"The AI service is listening."}\n';
    expect(readMissingIsolation(log)).to.deep.equal(['the rights of root']);
  });

  it('has a stand-in for each image that somebody else publishes', async () => {
    const needed = await listNeededImages();
    expect(needed).to.include.members(['node:24-bookworm-slim', 'nginx:1.30-alpine']);
    expect(Object.keys(recipes)).to.have.members(needed);
  });
});
