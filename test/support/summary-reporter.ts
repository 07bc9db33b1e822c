import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import Mocha from 'mocha';

/** How the tests ended, and how long their files took. A failing hook counts as a failed test. */
export interface Summary {
  passed: number;
  /** The names of those that failed. */
  failed: string[];
  /** Milliseconds of each file's tests and hooks, by its path; without the time in which it was loaded. */
  fileMs: Record<string, number>;
}

/** The summary of no test at all. */
export const none: Summary = { passed: 0, failed: [], fileMs: {} };

/** Two summaries in one. */
export function add(one: Summary, other: Summary): Summary {
  return { passed: one.passed + other.passed, failed: [...one.failed, ...other.failed], fileMs: { ...one.fileMs, ...other.fileMs } };
}

/** A check that is not one of mocha's, counted as one test. */
export function oneTest(name: string, passed: boolean): Summary {
  return { ...none, passed: Number(passed), failed: passed ? [] : [name] };
}

/** The files that took longest, one a line, the slowest first. */
export function listSlowestFiles({ fileMs }: Summary, count: number): string[] {
  return Object.entries(fileMs)
    .sort(([, one], [, other]) => other - one)
    .slice(0, count)
    .map(([file, ms]) => `${(ms / 1_000).toFixed(1).padStart(7)} s  ${file}`);
}

/** Mocha's usual report, and its summary as JSON in the file that the reporter's option `summary` names. */
export default class SummaryReporter extends Mocha.reporters.Spec {
  constructor(runner: Mocha.Runner, options: Mocha.MochaOptions) {
    super(runner, options);
    const { summary } = options.reporterOptions as { summary: string };
    const { EVENT_HOOK_END, EVENT_TEST_END, EVENT_RUN_END } = Mocha.Runner.constants;
    const fileMs: Record<string, number> = {};
    const count = ({ file, duration = 0 }: Mocha.Runnable) => {
      if (!file) return;
      const path = relative('.', file);
      fileMs[path] = (fileMs[path] ?? 0) + duration;
    };
    runner.on(EVENT_HOOK_END, count);
    runner.on(EVENT_TEST_END, count);
    runner.once(EVENT_RUN_END, () => {
      const result: Summary = { passed: this.stats.passes, failed: this.failures.map((test) => test.fullTitle()), fileMs };
      writeFileSync(summary, JSON.stringify(result));
    });
  }
}
