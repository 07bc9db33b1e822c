// `npm run test:fuzz [-- --examples N] [--as CALLER]`: fuzzes the served OpenAPI document as each caller; see docs/testing.md.
// The last line is `N passed, N failed`, one for each caller.

import { StopRequest } from '../../ops/local/stop-request.ts';
import { createSupervisor } from '../../ops/local/supervise.ts';
import { table } from '../../ops/table.ts';
import type { TestApi } from '../support/api.ts';
import { stopOwnServices } from '../support/stack.ts';
import { createCaller, startFuzzedApi } from './callers.ts';
import { installSchemathesis } from './install-schemathesis.ts';
import { type CallerName, type FuzzOptions, help, parseOptions, UsageError } from './options.ts';
import { type Findings, isClean, readFindings } from './read-findings.ts';
import { runSchemathesis } from './run-schemathesis.ts';

interface Result {
  caller: CallerName;
  findings: Findings;
  passed: boolean;
}

const usageCode = 2;
const head = ['caller', 'operations', 'requests', '5xx', 'undocumented answers', 'forbidden requests accepted', 'other findings', ''];

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
  const results: Result[] = [];
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
  const passed = results.filter((result) => result.passed).length;
  if (results.length > 0) console.log(`\n${table([head, ...results.map(toRow)]).join('\n')}`);
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

async function fuzz(program: string, options: FuzzOptions, results: Result[], stopRequest: StopRequest): Promise<void> {
  console.log('Starting Postgres, Temporal, the AI service and the API …');
  const api = await startFuzzedApi();
  try {
    for (const name of options.callers) {
      if (stopRequest.requested) return;
      console.log(`\nFuzzing as ${name} …\n`);
      const result = await Promise.race([fuzzAs(name, program, api, options), stopRequest.wait()]);
      if (result) results.push(result);
    }
    if (results.some(({ findings }) => findings.serverErrors > 0)) printErrors(api);
  } finally {
    await api.stop();
  }
}

async function fuzzAs(name: CallerName, program: string, api: TestApi, options: FuzzOptions): Promise<Result> {
  const { exit, eventsFile } = await runSchemathesis(program, api, await createCaller(api, name), options);
  const findings = await readFindings(eventsFile);
  return { caller: name, findings, passed: exit.code === 0 && isClean(findings) };
}

/** The last errors in the log of the API, for the answers with 5xx: what failed is told nowhere else. */
function printErrors(api: TestApi): void {
  const lines = api.stack.readLog('api').split('\n');
  const errors = lines.filter((line) => line.includes('"level":50') || line.includes('"level":"error"'));
  console.log(`\nThe last errors in the log of the API:\n${errors.slice(-20).join('\n')}`);
}

function toRow({ caller, findings, passed }: Result): (string | number)[] {
  const { operations, requests, serverErrors, undocumented, accepted, other } = findings;
  return [caller, operations, requests, serverErrors, undocumented, accepted, other, passed ? 'passed' : 'failed'];
}
