// `npm start`: everything that the service needs, on this machine, until Ctrl-C.

import { lstatSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { ConfigurationError } from '../config/environment.ts';
import { inheritedEnvironment, type LocalConfig, loadLocalConfig } from '../config/local.ts';
import { startLocalService } from './local-service.ts';
import { serviceNames } from './progress.ts';
import type { ServiceName } from './services.ts';
import type { Stack } from './stack.ts';
import { StopRequest } from './stop-request.ts';
import { describeExit, type Exit, readTail } from './supervise.ts';

const { version } = createRequire(import.meta.url)('../package.json') as { version: string };

interface Crash {
  service: ServiceName;
  exit: Exit;
}

if (process.argv.length > 2) {
  const asked = process.argv[2] === '--help';
  const usage = 'npm start takes no arguments. Its settings are variables: see docs/configuration.md.';
  console[asked ? 'log' : 'error'](usage);
  process.exit(asked ? 0 : 2);
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
    onServiceExit: (service, exit) => crashed.resolve({ service, exit }),
  });
  process.stdout.write(welcome(stack, version));
  const crash = await Promise.race([crashed.promise, stopRequest.wait()]);
  process.stdout.write(crash ? '' : '\nStopping …\n');
  await stop();
  return crash ? reportCrash(stack, crash) : 0;
}

function reportCrash(stack: Stack, { service, exit }: Crash): number {
  const log = stack.logPath(service);
  console.error(`\n${serviceNames[service]} ${describeExit(exit)}; everything else was stopped. The last lines of its log:`);
  console.error(readTail(log, 15).replace(/^/gm, '    '));
  console.error(`Log: ${log}`);
  return 1;
}

function fail(error: unknown): number {
  // A message for the user. Any other error is a fault of the program, and needs its stack.
  const expected = error instanceof ConfigurationError || (error instanceof Error && !(error instanceof TypeError));
  console.error(expected ? `\n${(error as Error).message}` : error);
  return 1;
}

/** The screen after a start: the addresses, how to sign up and in, how to stop. Shows no secret. */
export function welcome(stack: Stack, version: string): string {
  const api = stack.env.API_URL ?? stack.apiUrl;
  const lines: [string, string | undefined][] = [
    ['API', `${api}/api/v1`],
    ['Reference', `${api}/docs`],
    ['OpenAPI', `${api}/api/v1/openapi.json`],
    ['Temporal UI', stack.env.TEMPORAL_UI_URL],
    ['Data', stack.dataDir],
    // For root it may be elsewhere; see chooseDirectory.
    ['Postgres', findLinkTarget(join(stack.dataDir, 'postgres'))],
    ['Logs', `${stack.dataDir}/logs`],
    ['Jobs', stack.env.WORKER_ENABLED === 'false' ? 'wait: WORKER_ENABLED=false, so no worker runs here' : undefined],
  ];
  return `
Sheaf ${version} is running.

${lines.flatMap(([name, value]) => (value === undefined ? [] : [`  ${name.padEnd(13)}${value}`])).join('\n')}

Sign up (sign in later at /api/auth/sign-in/email with the same body without the name):

  TOKEN=$(curl -sS -o /dev/null -D - ${api}/api/auth/sign-up/email \\
    -H 'Content-Type: application/json' \\
    -d '{"name":"Ada","email":"ada@example.com","password":"a long password"}' |
    tr -d '\\r' | sed -n 's/^set-auth-token: //p')

  curl -sS ${api}/api/v1/me -H "Authorization: Bearer $TOKEN"

See everything at work: npm run demo. Stop: Ctrl-C.
`;
}

function findLinkTarget(path: string): string | undefined {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ? realpathSync(path) : undefined;
}
