// `npm test`: format, lint, types, then every test file against a Postgres, a Temporal server and an AI service of this run.
// `npm test -- test/api test/db/migrate.test.ts` runs only the tests in those places, and `npm run verify` only what needs no service.
// Tests that take minutes (support/nightly.ts) are left to `npm run test:nightly`.
// The last line is `N passed, N failed`.
import { existsSync, globSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type Stack, startStack } from '../ops/local/stack.ts';
import { StopRequest } from '../ops/local/stop-request.ts';
import { createSupervisor } from '../ops/local/supervise.ts';
import { bucketEmulator } from './adapters/storage/bucket-emulator.ts';
import { versitygw } from './adapters/storage/s3-server.ts';
import { installPythonClient } from './clients/support/python-client.ts';
import { builtConsole } from './support/console-build.ts';
import { checkCoverage } from './support/coverage.ts';
import { makeTestDirectory, removeTestDirectory } from './support/directories.ts';
import { checkLogs } from './support/find-secrets.ts';
import { buildGoPrograms, type GoProgram } from './support/go-program.ts';
import { helm } from './support/helm.ts';
import { needsServices } from './support/needs-services.ts';
import { runChecks } from './support/run-checks.ts';
import { runMocha } from './support/run-mocha.ts';
import { keptLogs } from './support/run-secrets.ts';
import { stripeMock } from './support/stripe-mock.ts';
import { add, listSlowestFiles, none, oneTest, type Summary } from './support/summary-reporter.ts';
import { longestFirst, saveTimings, shardOf } from './support/timings.ts';

const usage = `Usage: npm test [-- PLACE… --shard 1/4 --save-timings]
       npm run test:nightly
       npm run verify

Runs the tests in each PLACE, such as test/api or test/db/migrate.test.ts.
Without any: format, lint, types and every test, which takes a while.
It starts a Postgres, a Temporal server and an AI service of its own, if a
test needs one.

--shard 1/4 runs the first of four parts that take about as long as each
other, for machines that run beside each other; the first has the checks.
--save-timings keeps how long each file took in test/timings.json, by which
files are ordered and parted.

test:nightly also runs the tests that wait for minutes, kill processes again
and again, or read whole pages of pictures; so does npm test in the places
that are named.

verify runs format, lint, types and the tests that need no service.`;

// These measure, break, or load a whole stack, or run files of their own beside each other.
const oneAtATime = /^test\/serial\//;
/** Programs that tests start, by the modules that they start them with. */
const goPrograms: [module: string, program: GoProgram][] = [
  ['stripe-mock.ts', stripeMock],
  ['s3-server.ts', versitygw],
  ['bucket-emulator.ts', bucketEmulator],
  ['helm.ts', helm],
];
const slowestFiles = 10;
// Much of the time a test waits: for a process to start, a lease to end, a retry to be due. But some recognize images for minutes,
// beside which a second more than this makes calls of others late. More than four might use up the connections of the one Postgres.
const filesAtOnce = Math.min(4, availableParallelism() + 1);

const { quick, night, shard, saves, paths } = readOptions();
const nightly = night || paths.length > 0 ? { TEST_NIGHTLY: 'true' } : {};
const directory = makeTestDirectory();
const stopRequest = new StopRequest();
let total = none;
try {
  total = await runAll();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  total = add(total, oneTest('the run itself', false));
}
stopRequest.forget();
if (total.passed + total.failed.length === 0) console.error('There is nothing to run.');
if (total.failed.length > 0 && existsSync(`${directory}/logs`))
  console.log(`\nThe logs of the services are in ${directory}/logs, those of each test's own in ${directory}/${keptLogs}.`);
else removeTestDirectory(directory);
if (saves && total.failed.length === 0) saveTimings(total.fileMs);
if (Object.keys(total.fileMs).length > 1)
  console.log(['\nThe files that took longest:', ...listSlowestFiles(total, slowestFiles)].join('\n'));
process.exitCode = total.failed.length === 0 && total.passed > 0 && !stopRequest.requested ? 0 : 1;
// The reports are far above by now.
if (total.failed.length > 0) console.log(['\nWhat failed:', ...total.failed.map((name) => `  ✘ ${name}`)].join('\n'));
console.log(`\n${total.passed} passed, ${total.failed.length} failed`);

async function runAll(): Promise<Summary> {
  const found = findTestFiles(paths).filter((file) => !quick || !needsServices(file));
  const files = shard ? shardOf(found, shard) : found;
  const whole = paths.length === 0 && !shard;
  const withChecks = whole || shard?.index === 1;
  if (!files.some(needsServices)) return add(withChecks ? await runChecks() : none, await runQuickTests(files));
  console.log(`Starting Postgres, Temporal and the AI service${withChecks ? ', and checking format, lint and types' : ''} …`);
  const [stack, checked] = await Promise.all([startServices(), withChecks ? runChecks() : none, buildForTests(files)]);
  try {
    const stopped = stopRequest.wait();
    await Promise.race([buildGoPrograms(programsOf(files), stack.supervisor, join(directory, 'go'), stopRequest.signal), stopped]);
    if (stopRequest.requested) return checked;
    const tested = add(checked, await Promise.race([runTests(stack, files), stopped.then(() => none)]));
    if (stopRequest.requested) return tested;
    const searched = add(tested, checkLogs(directory, { whole }));
    return whole ? add(searched, await checkCoverage(directory)) : searched;
  } finally {
    await stack.stop();
  }
}

/** Tests that need no service run without waiting for one. */
async function runQuickTests(files: string[]): Promise<Summary> {
  const supervisor = createSupervisor();
  const group = { directory, env: { NODE_ENV: 'test', ...nightly }, name: 'quick', files, jobs: filesAtOnce };
  return await runMocha(supervisor, group).finally(() => supervisor.close());
}

async function runTests(stack: Stack, files: string[]): Promise<Summary> {
  const env = {
    NODE_ENV: 'test',
    ...nightly,
    TEST_DATABASE_URL: stack.databaseUrl,
    TEST_TEMPORAL_ADDRESS: stack.temporalAddress,
    TEST_AI_URL: stack.aiUrl,
    TEST_SERVICE_TOKEN: stack.serviceToken,
    TEST_RECORD_DIR: directory,
  };
  const group = { directory, env };
  const together = longestFirst(files.filter((file) => !oneAtATime.test(file)));
  const alone = files.filter((file) => oneAtATime.test(file));
  const first = await runMocha(stack.supervisor, { ...group, name: 'parallel', files: together, jobs: filesAtOnce });
  return add(first, await runMocha(stack.supervisor, { ...group, name: 'serial', files: alone, jobs: 1 }));
}

/** Builds the console and the Python client once, so that no test waits for them within its time. If that fails, the tests that need them do. */
async function buildForTests(files: string[]): Promise<void> {
  const needsConsole = files.some((file) => file.startsWith('test/clients/web/'));
  await Promise.all([
    needsConsole ? builtConsole().catch(() => undefined) : undefined,
    isImported('python-client.ts', files) ? installPythonClient(directory, stopRequest.signal).catch(tell) : undefined,
  ]);
}

function tell(error: unknown): void {
  if (!stopRequest.requested) console.log(`  ${error instanceof Error ? error.message : error}`);
}

/** Those that the files import. */
function programsOf(files: string[]): GoProgram[] {
  return goPrograms.filter(([module]) => isImported(module, files)).map(([, program]) => program);
}

function isImported(module: string, files: string[]): boolean {
  return files.some((file) => readFileSync(file, 'utf8').includes(`/${module}'`));
}

function startServices(): Promise<Stack> {
  return startStack({
    dataDir: directory,
    services: ['postgres', 'temporal', 'ai'],
    durable: false,
    temporalUi: false,
    abort: stopRequest.signal,
    onServiceExit: (service) => console.error(`The ${service} of this test run has ended; the tests that use it fail.`),
  });
}

/** What the command line asks for. Ends the process with 0 if only the usage is asked for, and with 2 if the arguments are not understood. */
function readOptions() {
  const options = {
    quick: { type: 'boolean' },
    nightly: { type: 'boolean' },
    shard: { type: 'string' },
    'save-timings': { type: 'boolean' },
    help: { type: 'boolean' },
  } as const;
  try {
    const { values, positionals } = parseArgs({ options, allowPositionals: true });
    if (values.help) {
      console.log(usage);
      process.exit(0);
    }
    return {
      quick: values.quick,
      night: values.nightly,
      shard: readShard(values.shard),
      saves: values['save-timings'],
      paths: positionals,
    };
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n\n${usage}`);
    return process.exit(2);
  }
}

function readShard(given: string | undefined): { index: number; count: number } | undefined {
  if (given === undefined) return undefined;
  const [index = 0, count = 0] = given.split('/').map(Number);
  if (!/^\d+\/\d+$/.test(given) || index < 1 || index > count) throw new Error(`--shard has to be like 1/4, not ${given}.`);
  return { index, count };
}

/** The test files below the given places, or all; throws when a place has none. */
function findTestFiles(places: string[]): string[] {
  const all = globSync('test/**/*.test.ts').sort();
  if (places.length === 0) return all;
  return places.flatMap((place) => {
    const path = relative('.', resolve(place));
    const found = all.filter((file) => file === path || file.startsWith(`${path}/`));
    if (found.length === 0) throw new Error(`There is no test at ${place}.`);
    return found;
  });
}
