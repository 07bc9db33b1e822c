// `npm start`: everything that the service needs, on this machine, until Ctrl-C.

import { existsSync, lstatSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { ConfigurationError } from '../../base/config/environment.ts';
import { inheritedEnvironment, type LocalConfig, loadLocalConfig } from '../../base/config/local.ts';
import { changeVariables } from '../../base/config/secret-files.ts';
import { loadServerConfig } from '../../base/config/server.ts';
import { buildConsoleOnce, findConsoleDirectory } from './console.ts';
import { startLocalService } from './local-service.ts';
import { readTail } from './log-file.ts';
import type { ServiceName } from './service-names.ts';
import { serviceNames } from './service-names.ts';
import type { Stack } from './stack.ts';
import { StopRequest } from './stop-request.ts';
import { describeExit, type Exit } from './supervise.ts';

const { version } = createRequire(import.meta.url)('../../package.json') as { version: string };

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
  const consoleDirectory = findConsoleDirectory(inheritedEnvironment());
  const { stack, stop } = await startLocalService(config, {
    stream: process.stdout,
    shared: true,
    ...(consoleDirectory ? { env: { CONSOLE: consoleDirectory } } : {}),
    abort: stopRequest.signal,
    onServiceExit: (service, exit) => crashed.resolve({ service, exit }),
  });
  process.stdout.write(welcome(stack, version));
  if (consoleDirectory) void build(stack, consoleDirectory);
  const crash = await Promise.race([crashed.promise, stopRequest.wait()]);
  process.stdout.write(crash ? '' : '\nStopping …\n');
  await stop();
  return crash ? reportCrash(stack, crash) : 0;
}

/** The API is up meanwhile, and says at `/` that the console is not there yet. */
async function build({ supervisor, dataDir, env, apiUrl }: Stack, directory: string): Promise<void> {
  if (existsSync(directory)) return;
  console.log('Building the console …');
  const startedAt = performance.now();
  try {
    await buildConsoleOnce(supervisor, join(dataDir, 'logs', 'console.log'));
    console.log(`The console is ready (${((performance.now() - startedAt) / 1000).toFixed(1)} s): ${env.API_URL ?? apiUrl}`);
  } catch (error) {
    // The service is of use without it.
    if (!stopRequest.requested) console.error(`There is no console: ${error instanceof Error ? error.message : error}`);
  }
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
function welcome(stack: Stack, version: string): string {
  const api = stack.env.API_URL ?? stack.apiUrl;
  // The API inherits the variables that the stack does not set.
  const config = loadServerConfig(changeVariables(inheritedEnvironment(), stack.env));
  const lines: [string, string | undefined][] = [
    ['Console', config.console.enabled ? api : undefined],
    ['API', `${api}/api/v1`],
    ['Reference', `${api}/docs`],
    ['OpenAPI', `${api}/api/v1/openapi.json`],
    ['Temporal UI', stack.env.TEMPORAL_UI_URL],
    ['Data', stack.dataDir],
    // For root it may be elsewhere; see chooseDirectory.
    ['Postgres', findLinkTarget(join(stack.dataDir, 'postgres'))],
    ['Logs', `${stack.dataDir}/logs`],
    ['Mails', config.email.provider === 'mailbox' ? `${stack.dataDir}/mail` : undefined],
    ['Jobs', !config.worker.enabled ? 'wait: WORKER_ENABLED=false, so no worker runs here' : undefined],
  ];
  return `
Sheaf ${version} is running.

${lines.flatMap(([name, value]) => (value === undefined ? [] : [`  ${name.padEnd(13)}${value}`])).join('\n')}

${config.requireEmailVerification ? verifiedSignUp(api) : signUp(api)}

  curl -sS ${api}/api/v1/me -H "Authorization: Bearer $TOKEN"

${config.requireEmailVerification ? '' : 'See everything at work: npm run demo. '}Stop: Ctrl-C.
`;
}

function signUp(api: string): string {
  return `Sign up (sign in later at /api/auth/sign-in/email with the same body without the name):

${tokenOf(`${api}/api/auth/sign-up/email`, '{"name":"Ada","email":"ada@example.com","password":"a long password"}')}`;
}

function verifiedSignUp(api: string): string {
  return `Sign up with an address of yours, and open the link of the mail that comes; then sign in:

  curl -sS ${api}/api/auth/sign-up/email \\
    -H 'Content-Type: application/json' \\
    -d '{"name":"Ada","email":"ada@example.com","password":"a long password"}'

${tokenOf(`${api}/api/auth/sign-in/email`, '{"email":"ada@example.com","password":"a long password"}')}`;
}

function tokenOf(url: string, body: string): string {
  return `  TOKEN=$(curl -sS -o /dev/null -D - ${url} \\
    -H 'Content-Type: application/json' \\
    -d '${body}' |
    tr -d '\\r' | sed -n 's/^set-auth-token: //p')`;
}

function findLinkTarget(path: string): string | undefined {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ? realpathSync(path) : undefined;
}
