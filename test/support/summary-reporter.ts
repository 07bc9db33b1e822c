import { writeFileSync } from 'node:fs';
import Mocha from 'mocha';

/** How many tests of one mocha run ended how. A failing hook counts as a failed test. */
export interface Summary {
  passed: number;
  failed: number;
}

/** Mocha's usual report, and its numbers as JSON in the file that the reporter's option `summary` names. */
export default class SummaryReporter extends Mocha.reporters.Spec {
  constructor(runner: Mocha.Runner, options: Mocha.MochaOptions) {
    super(runner, options);
    const { summary } = options.reporterOptions as { summary: string };
    runner.once(Mocha.Runner.constants.EVENT_RUN_END, () => {
      const result: Summary = { passed: this.stats.passes, failed: this.stats.failures };
      writeFileSync(summary, JSON.stringify(result));
    });
  }
}
