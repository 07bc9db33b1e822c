import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { S3StorageOptions } from '../../../adapters/storage/s3.ts';
import type { Environment } from '../../../base/config/environment.ts';
import { findFreePorts } from '../../../ops/local/ports.ts';
import { createSupervisor } from '../../../ops/local/supervise.ts';
import { makeTestDirectory, removeTestDirectory } from '../../support/directories.ts';
import { findGoProgram } from '../../support/go-program.ts';

export const versitygw = {
  name: 'versitygw',
  package: 'github.com/versity/versitygw/cmd/versitygw',
  version: 'v1.8.0',
  needed: 'The S3 driver cannot be tested',
};
const credentials = { accessKeyId: 'test-key', secretAccessKey: 'a secret of this test' };
const bucket = 'documents';

/** A server that speaks S3 and checks signatures, with an empty bucket in it. */
export interface S3Server {
  /** How the driver reaches it. */
  options: S3StorageOptions & { apiEndpoint: string };
  /** The variables of a service that uses it. */
  env: Environment;
  /** The directory that is the bucket: each object is a file. */
  directory: string;
  close(): Promise<void>;
}

/** Starts Versity's S3 gateway over an empty directory. It is built with `go install` the first time; throws if it cannot be. */
export async function startS3Server(): Promise<S3Server> {
  const directory = makeTestDirectory();
  const supervisor = createSupervisor();
  const close = async () => {
    await supervisor.close();
    removeTestDirectory(directory);
  };
  try {
    const program = await findGoProgram(versitygw, supervisor, directory);
    const root = join(directory, 'buckets');
    mkdirSync(join(root, bucket), { recursive: true });
    const [port = 0] = await findFreePorts(1);
    const env = { ROOT_ACCESS_KEY: credentials.accessKeyId, ROOT_SECRET_KEY: credentials.secretAccessKey };
    const args = ['--port', `127.0.0.1:${port}`, '--health', '/health', '--quiet', 'posix', root];
    const running = supervisor.run({ name: 'versitygw', command: program, args, env, logFile: join(directory, 'versitygw.log') });
    const apiEndpoint = `http://127.0.0.1:${port}`;
    await supervisor.waitUntilReady(running, () => isHealthy(apiEndpoint), 30_000);
    const options = { bucket, apiEndpoint, region: 'us-east-1', credentials };
    return { options, env: environmentOf(apiEndpoint), directory: join(root, bucket), close };
  } catch (error) {
    await close();
    throw error;
  }
}

function isHealthy(url: string): Promise<boolean> {
  return fetch(`${url}/health`).then(
    ({ ok }) => ok,
    () => false,
  );
}

/** The variables of a service that reaches the server at an address. */
export function environmentOf(apiEndpoint: string): Environment {
  return {
    STORAGE_DRIVER: 's3',
    STORAGE_BUCKET: bucket,
    STORAGE_API_ENDPOINT: apiEndpoint,
    STORAGE_ACCESS_KEY_ID: credentials.accessKeyId,
    STORAGE_SECRET_ACCESS_KEY: credentials.secretAccessKey,
  };
}
