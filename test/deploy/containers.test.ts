import { type AddressInfo, createServer } from 'node:net';
import { expect } from 'chai';
import { findIsolation } from '../../ai/pool/isolation.ts';
import { findFreePorts } from '../../local/ports.ts';
import { startStack } from '../../local/stack.ts';
import { readArguments } from '../../tools/containers/arguments.ts';
import { isReached, readMissingIsolation } from '../../tools/containers/check-confinement.ts';
import { listNeededImages } from '../../tools/containers/images.ts';
import { tryCommand } from '../../tools/containers/run-command.ts';
import { findWrong, isSteady, type SoakReport } from '../../tools/containers/soak.ts';
import { recipes } from '../../tools/containers/stand-ins/recipes.ts';
import { readMemory } from '../../tools/containers/use-of-containers.ts';
import { makeTestDirectory, removeTestDirectory } from '../support/directories.ts';
import { runProgram, until } from '../support/processes.ts';

describe('npm run test:containers', () => {
  it('says how to get a container engine where there is none', async () => {
    const empty = makeTestDirectory();
    const program = runProgram(process.execPath, ['tools/containers/main.ts'], { env: { PATH: empty } });
    const { code } = await program.exited;
    removeTestDirectory(empty);
    expect({ code, stdout: program.stdout() }).to.deep.equal({ code: 2, stdout: '' });
    expect(program.stderr())
      .to.match(/^No container engine: /)
      .and.include('apt-get install docker.io')
      .and.include('docker-compose');
  });

  it('explains arguments that it does not understand, before it does anything', async () => {
    const program = runProgram(process.execPath, ['tools/containers/main.ts', '--quick']);
    expect((await program.exited).code).to.equal(2);
    expect(program.stderr()).to.match(/^Usage: npm run test:containers/);
  });

  it('reads how long clients work', () => {
    expect(readArguments([])).to.deep.equal({ short: false });
    expect(readArguments(['--short'])).to.deep.equal({ short: true });
    for (const args of [['--soak', '60'], ['--soak=60']]) expect(readArguments(args)).to.deep.equal({ short: false, soakMinutes: 60 });
    const refused = ['--soak', '--soak=', '--soak=0', '--soak=-5', '--soak=1.5', '--soak=1h', '--soak=60 --short', '60', '--quick'];
    for (const args of refused) expect(readArguments(args.split(' ')), args).to.equal(undefined);
  });

  it('reads the memory of containers, and takes nothing else for it', () => {
    const lines = '0123456789ab 14.16MiB / 128MiB\nfedcba987654 1.5GiB / 2GiB\n00000000000a 512KiB / 1GiB\n00000000000b 0B / 0B\n';
    const memory = { '0123456789ab': 15, fedcba987654: 1611, '00000000000a': 1, '00000000000b': 0 };
    expect(Object.fromEntries(readMemory(lines))).to.deep.equal(memory);
    for (const line of ['', '0123456789ab -- / --', '0123456789ab 14.16MiB'])
      expect(() => readMemory(line)).to.throw('docker stats printed');
  });

  it('finds wrong with a container whatever it was at any time', () => {
    const use = (health: string, restarts = 0, state = 'running') => ({ state, health, restarts });
    expect(findWrong([use('healthy'), use('', 0), use('healthy')])).to.deep.equal([]);
    expect(findWrong([use('healthy'), use('unhealthy'), use('unhealthy'), use('healthy')])).to.deep.equal(['unhealthy']);
    expect(findWrong([use('healthy', 1), use('healthy', 1)])).to.deep.equal([]);
    expect(findWrong([use('healthy'), use('', 0, 'exited'), undefined, use('starting', 1)])).to.have.members([
      ...['exited', 'absent', 'starting', 'restarted'],
    ]);
  });

  it('calls no work steady of which a part is lost, failed, done twice or not found', () => {
    const container = { service: 'api', memoryMb: { begin: 1, tenth: 1, end: 1, most: 1 }, restarts: 0, logMb: 1, wrong: [] };
    const report: SoakReport = {
      ...{ jobs: 10, succeeded: 10, unfinished: 0, lost: 0, twice: 0, notFound: 0, ledgerSound: true },
      ...{ longestWaitSeconds: 1, slowestJobSeconds: 1, searchableAfterSeconds: [1], containers: [container] },
    };
    expect(isSteady(report)).to.equal(true);
    const worse: Partial<SoakReport>[] = [
      ...[{ jobs: 0, succeeded: 0 }, { succeeded: 9 }, { unfinished: 1 }, { lost: 1 }, { twice: 1 }, { notFound: 1 }],
      ...[{ ledgerSound: false }, { searchableAfterSeconds: [] }, { containers: [{ ...container, wrong: ['restarted'] }] }],
    ];
    for (const part of worse) expect(isSteady({ ...report, ...part }), JSON.stringify(part)).to.equal(false);
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
    expect(needed).to.include.members(['node:24-bookworm-slim', 'nginx:1.28-alpine']);
    expect(Object.keys(recipes)).to.have.members(needed);
  });
});
