// `npm start`: everything that the service needs, on this machine, until Ctrl-C.
import { createRequire } from 'node:module';
import { ConfigurationError } from '../config/environment.ts';
import { inheritedEnvironment, type LocalConfig, loadLocalConfig } from '../config/local.ts';
import { startLocalService } from './local-service.ts';
import { readTail } from './log-files.ts';
import { partNames } from './progress.ts';
import type { PartName, Stack } from './stack.ts';
import { StopRequest } from './stop-request.ts';
import { describeExit, type Exit } from './supervise.ts';
import { welcome } from './welcome.ts';

const { version } = createRequire(import.meta.url)('../package.json') as { version: string };

interface Crash {
  part: PartName;
  exit: Exit;
}

const stopRequest = new StopRequest();
try {
  process.exitCode = await main(loadLocalConfig(inheritedEnvironment()));
} catch (error) {
  process.exitCode = stopRequest.requested ? 0 : fail(error);
}
stopRequest.forget();

async function main(config: LocalConfig): Promise<number> {
  const crashed = Promise.withResolvers<Crash>();
  const { stack, stop } = await startLocalService(config, {
    stream: process.stdout,
    shared: true,
    abort: stopRequest.signal,
    onPartExit: (part, exit) => crashed.resolve({ part, exit }),
  });
  process.stdout.write(welcome(stack, version));
  const crash = await Promise.race([crashed.promise, stopRequest.wait()]);
  process.stdout.write(crash ? '' : '\nStopping …\n');
  await stop();
  return crash ? reportCrash(stack, crash) : 0;
}

function reportCrash(stack: Stack, { part, exit }: Crash): number {
  const log = stack.logPath(part);
  console.error(`\n${partNames[part]} ${describeExit(exit)}; everything else was stopped. The last lines of its log:`);
  console.error(readTail(log, 15).replace(/^/gm, '    '));
  console.error(`Log: ${log}`);
  return 1;
}

function fail(error: unknown): number {
  // These are told to the user; anything else is a fault of the program, and its place helps.
  const expected = error instanceof ConfigurationError || (error instanceof Error && !(error instanceof TypeError));
  console.error(expected ? `\n${(error as Error).message}` : error);
  return 1;
}
