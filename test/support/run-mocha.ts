import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Environment } from '../../base/config/environment.ts';
import type { RunningProcess, Supervisor } from '../../ops/local/supervise.ts';
import { add, none, oneTest, type Summary } from './summary-reporter.ts';

/** Twice as long as a slow machine takes. */
const groupLimitMs = 75 * 60_000;
const leaveLimitMs = 15_000;

interface MochaGroup {
  name: string;
  files: string[];
  /** How many files run at once; one process runs all of them one after another when it is 1. */
  jobs: number;
  /** A directory for the group's results. */
  directory: string;
  env: Environment;
}

/** Runs test files with mocha. A run that crashes, hangs, or does not leave after its last test counts as one more failure, and says so. */
export async function runMocha(supervisor: Supervisor, group: MochaGroup): Promise<Summary> {
  if (group.files.length === 0) return none;
  const summaryFile = join(group.directory, `${group.name}.json`);
  const running = supervisor.run({
    name: `mocha (${group.name})`,
    command: process.execPath,
    args: ['node_modules/mocha/bin/mocha.js', ...mochaArguments(group, summaryFile)],
    env: group.env,
  });
  const problem = await untilItLeaves(running, summaryFile);
  await running.kill('SIGKILL');
  const summary = existsSync(summaryFile) ? (JSON.parse(readFileSync(summaryFile, 'utf8')) as Summary) : none;
  if (problem === undefined && (running.exit?.code === 0 || summary.failed.length > 0)) return summary;
  const name = `mocha (${group.name}) ${problem ?? 'ended before its last test'}`;
  console.log(`  ✘ ${name}`);
  return add(summary, oneTest(name, false));
}

function mochaArguments({ files, jobs }: MochaGroup, summaryFile: string): string[] {
  return [
    ...['--reporter', 'test/support/summary-reporter.ts', '--reporter-option', `summary=${summaryFile}`],
    ...(jobs > 1 ? ['--parallel', '--jobs', String(jobs)] : []),
    ...files,
  ];
}

async function untilItLeaves(running: RunningProcess, summaryFile: string): Promise<string | undefined> {
  const startedAt = performance.now();
  let endedAt: number | undefined;
  while (!running.exit) {
    await Promise.race([delay(200), running.exited]);
    const now = performance.now();
    if (existsSync(summaryFile)) endedAt ??= now;
    if (now - startedAt > groupLimitMs) return `took longer than ${groupLimitMs / 60_000} minutes`;
    if (endedAt !== undefined && now - endedAt > leaveLimitMs) return 'does not leave: a test keeps a handle open';
  }
  return undefined;
}
