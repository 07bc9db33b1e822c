import { join } from 'node:path';
import { findFreePorts } from '../../ops/local/ports.ts';
import { createSupervisor } from '../../ops/local/supervise.ts';
import { makeTestDirectory, removeTestDirectory } from './directories.ts';
import { findGoProgram } from './go-program.ts';

export const stripeMock = {
  name: 'stripe-mock',
  package: 'github.com/stripe/stripe-mock',
  version: 'v0.203.0',
  needed: 'The requests to Stripe cannot be checked',
};

export interface StripeMock {
  url: string;
  stop(): Promise<void>;
}

/**
 * Starts Stripe's own mock, which holds each request against Stripe's OpenAPI document. It is built with `go install` the first time, and
 * kept in the user's cache; throws if there is neither.
 */
export async function startStripeMock(): Promise<StripeMock> {
  const directory = makeTestDirectory();
  const supervisor = createSupervisor();
  const stop = async () => {
    await supervisor.close();
    removeTestDirectory(directory);
  };
  try {
    const program = await findGoProgram(stripeMock, supervisor, directory);
    const [port = 0, securePort = 0] = await findFreePorts(2);
    const args = ['-http-addr', `127.0.0.1:${port}`, '-https-addr', `127.0.0.1:${securePort}`];
    const logFile = join(directory, 'stripe-mock.log');
    const running = supervisor.run({ name: 'stripe-mock', command: program, args, logFile });
    const url = `http://127.0.0.1:${port}`;
    const isReady = () => fetch(url).then(Boolean, () => false);
    await supervisor.waitUntilReady(running, isReady, 30_000);
    return { url, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
