import { join } from 'node:path';
import { findFreePorts } from '../../../ops/local/ports.ts';
import { createSupervisor, type Supervisor } from '../../../ops/local/supervise.ts';
import { makeTestDirectory, removeTestDirectory } from '../../support/directories.ts';
import { findGoProgram } from '../../support/go-program.ts';
import type { BucketServer } from './bucket-server.ts';

export const bucketEmulator = {
  name: 'fake-gcs-server',
  package: 'github.com/fsouza/fake-gcs-server',
  version: 'v1.56.1',
  needed: 'The driver of Cloud Storage cannot be tested',
};
const bucket = 'documents';

/** Starts the emulator of Cloud Storage with an empty bucket. It is built with `go install` the first time; throws if it cannot be. */
export async function startBucketEmulator(): Promise<BucketServer> {
  const directory = makeTestDirectory();
  const supervisor = createSupervisor();
  const close = async () => {
    await supervisor.close();
    removeTestDirectory(directory);
  };
  try {
    const program = await findGoProgram(bucketEmulator, supervisor, directory);
    return { apiEndpoint: await startProgram(supervisor, program, directory), bucket, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function startProgram(supervisor: Supervisor, program: string, directory: string): Promise<string> {
  const [port = 0] = await findFreePorts(1);
  const host = `127.0.0.1:${port}`;
  const apiEndpoint = `http://${host}`;
  const address = ['-scheme', 'http', '-host', '127.0.0.1', '-port', String(port), '-external-url', apiEndpoint, '-public-host', host];
  const args = ['-backend', 'memory', ...address];
  const running = supervisor.run({ name: 'The bucket emulator', command: program, args, logFile: join(directory, 'emulator.log') });
  await supervisor.waitUntilReady(running, () => createBucket(apiEndpoint), 30_000);
  return apiEndpoint;
}

async function createBucket(apiEndpoint: string): Promise<boolean> {
  const body = JSON.stringify({ name: bucket });
  const response = await fetch(`${apiEndpoint}/storage/v1/b`, { method: 'POST', body }).catch(() => undefined);
  return response?.ok === true;
}
