// Downloads the Temporal CLI with the SDK: `node temporal-download.ts <version> <directory>`. A process of its own, so that a download
// that hangs can be ended.
import { arch, platform } from 'node:os';
import { TestWorkflowEnvironment } from '@temporalio/testing';

const connectTimeoutMs = 3000;
const downloadTimeoutMs = 10 * 60_000;

const [version, directory] = process.argv.slice(2);
if (version === undefined || directory === undefined) throw new Error('Usage: temporal-download.ts <version> <directory>');

const source = new URL(`https://temporal.download/cli/${version}`);
source.searchParams.set('platform', platform());
source.searchParams.set('arch', arch() === 'x64' ? 'amd64' : arch());

// The SDK waits for ever in a network that drops packets, so this checks first whether the host is reachable.
await fetch(source, { method: 'HEAD', signal: AbortSignal.timeout(connectTimeoutMs) }).catch((error: Error) => {
  console.error(`${source.host} cannot be reached: ${String(error.cause ?? error.message)}`);
  process.exit(1);
});

setTimeout(() => {
  console.error(`The download took longer than ${downloadTimeoutMs / 60_000} minutes.`);
  process.exit(1);
}, downloadTimeoutMs).unref();

const environment = await TestWorkflowEnvironment.createLocal({
  server: { executable: { type: 'cached-download', version, downloadDir: directory } },
});
await environment.teardown();
