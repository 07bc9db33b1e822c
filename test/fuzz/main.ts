// `npm run test:fuzz [-- --examples N] [--as CALLER]`: fuzzes the served OpenAPI document as each caller; see docs/testing.md.
// The last line is `N passed, N failed`, one for each caller.

import { StopRequest } from '../../ops/local/stop-request.ts';
import { createSupervisor } from '../../ops/local/supervise.ts';
import type { TestApi } from '../support/api.ts';
import { stopOwnServices } from '../support/stack.ts';
import { createCaller, startFuzzedApi } from './callers.ts';
import { installSchemathesis } from './install-schemathesis.ts';
import { type FuzzOptions, help, parseOptions, UsageError } from './options.ts';
import { runSchemathesis } from './run-schemathesis.ts';

const usageCode = 2;

try {
  const options = parseOptions(process.argv.slice(2));
  if (options.help) process.stdout.write(help);
  else process.exitCode = await main(options);
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  console.error(`${error.message}. See npm run test:fuzz -- --help`);
  process.exitCode = usageCode;
}

async function main(options: FuzzOptions): Promise<number> {
  const stopRequest = new StopRequest();
  /** Whether nothing was found, for each caller. */
  const results: boolean[] = [];
  try {
    const program = await install(stopRequest);
    if (!stopRequest.requested) await fuzz(program, options, results, stopRequest);
  } catch (error) {
    // What is stopped on request fails on the way.
    if (!stopRequest.requested) console.error(error instanceof Error ? error.message : error);
  } finally {
    await stopOwnServices();
    stopRequest.forget();
  }
  const passed = results.filter((found) => found).length;
  if (stopRequest.requested) console.log('\nIt was stopped before its end.');
  console.log(`\n${passed} passed, ${options.callers.length - passed} failed`);
  return passed === options.callers.length ? 0 : 1;
}

async function install(stopRequest: StopRequest): Promise<string> {
  const supervisor = createSupervisor();
  const stop = () => void supervisor.close();
  stopRequest.signal.addEventListener('abort', stop);
  try {
    return await installSchemathesis(supervisor);
  } finally {
    stopRequest.signal.removeEventListener('abort', stop);
    await supervisor.close();
  }
}

async function fuzz(program: string, options: FuzzOptions, results: boolean[], stopRequest: StopRequest): Promise<void> {
  console.log('Starting Postgres, Temporal, the AI service and the API …');
  const api = await startFuzzedApi();
  try {
    for (const name of options.callers) {
      if (stopRequest.requested) return;
      console.log(`\nFuzzing as ${name} …\n`);
      const ran = runSchemathesis(program, api, await createCaller(api, name), options);
      const exit = await Promise.race([ran, stopRequest.wait()]);
      if (exit) results.push(exit.code === 0);
    }
    if (results.includes(false)) printErrors(api);
  } finally {
    await api.stop();
  }
}

/** The last errors in the log of the API: of an answer with 5xx the cause is told nowhere else. */
function printErrors(api: TestApi): void {
  const lines = api.stack.readLog('api').split('\n');
  const errors = lines.filter((line) => line.includes('"level":50') || line.includes('"level":"error"'));
  if (errors.length > 0) console.log(`\nThe last errors in the log of the API:\n${errors.slice(-20).join('\n')}`);
}
