import { setImmediate as nextTurn } from 'node:timers/promises';
import type { NativeConnection, Worker, WorkflowBundle } from '@temporalio/worker';
import { expect } from 'chai';
import pino from 'pino';
import { RunningWorkers } from '../../worker/run-workers.ts';

const log = pino({ level: 'silent' }, { write: () => undefined });
const connection = { close: async () => undefined } as unknown as NativeConnection;

describe('The workers of a process', () => {
  /** Runs workers until `create` was called so often, and returns the bundles that it was given. */
  async function untilCreated(times: number, { bundle, connect }: { bundle: () => Promise<WorkflowBundle>; connect: () => Promise<void> }) {
    const bundles: WorkflowBundle[] = [];
    const done = Promise.withResolvers<void>();
    const workers = new RunningWorkers({
      ...{ log, bundle, prepare: async () => undefined, onConnection: () => undefined, onStop: () => undefined, stopMs: 1_000 },
      connect: () => connect().then(() => connection),
      async create(_connection, made) {
        if (bundles.push(made) === times) done.resolve();
        return [] as Worker[];
      },
      untilReconnected: () => new Promise(() => {}),
    });
    await done.promise;
    await workers.stop();
    return bundles;
  }

  it('begin again if their workflows cannot be bundled while they connect, and bundle them anew', async () => {
    const made = { code: 'workflows' };
    let tries = 0;
    const bundle = async () => {
      if (++tries === 1) throw new Error('a source cannot be read');
      return made;
    };
    // A rejection that nobody handles would have ended the process by then.
    expect(await untilCreated(1, { bundle, connect: async () => void (await nextTurn()) })).to.deep.equal([made]);
    expect(tries).to.equal(2);
  });

  it('bundle their workflows once, however often they connect', async () => {
    let bundled = 0;
    let connected = 0;
    const bundle = async () => ({ code: `bundle ${++bundled}` });
    const connect = async () => {
      if (++connected === 1) throw new Error('Temporal is away');
    };
    expect(await untilCreated(2, { bundle, connect })).to.deep.equal([{ code: 'bundle 1' }, { code: 'bundle 1' }]);
  });
});
