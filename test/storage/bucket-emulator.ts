import { accessSync, constants } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { inheritedEnvironment, loadToolConfig } from '../../config/local.ts';
import { findFreePorts } from '../../local/ports.ts';
import { createSupervisor, type Supervisor } from '../../local/supervise.ts';
import { makeTestDirectory, removeTestDirectory } from '../support/directories.ts';
import { type BucketServer, startBucketStandIn } from './bucket-server.ts';

const bucket = 'documents';

/**
 * Starts the emulator of Cloud Storage with an empty bucket, where `go install github.com/fsouza/fake-gcs-server@v1.56.1` has put it
 * on PATH or into `~/go/bin`. Elsewhere the stand-in takes its place: building the emulator takes minutes.
 */
export async function startBucketEmulator(): Promise<BucketServer> {
  const program = findEmulator();
  if (program === undefined) return await startBucketStandIn();
  const directory = makeTestDirectory();
  const supervisor = createSupervisor();
  const close = async () => {
    await supervisor.close();
    removeTestDirectory(directory);
  };
  try {
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

function findEmulator(): string | undefined {
  const { path } = loadToolConfig(inheritedEnvironment());
  return [...path, join(homedir(), 'go', 'bin')].map((directory) => join(directory, 'fake-gcs-server')).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
