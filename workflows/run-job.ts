import { defineSignal, setHandler } from '@temporalio/workflow';
import { signals } from './definitions.ts';
import type { RunJobInput } from './inputs.ts';
import { type AttemptReport, endAs, isUnfinished } from './job-outcomes.ts';
import { JobRun } from './job-run.ts';

const jobCanceled = defineSignal(signals.jobCanceled);

/**
 * Carries one job through its attempts to its end (docs/rules.md, job states). Each failed attempt and each wait is a step of the history.
 * A run that finds the job final, or held by another run, changes nothing (docs/rules.md, the row decides). Fails only if the job failed.
 */
export async function runJob(input: RunJobInput): Promise<{ status: string }> {
  const run = new JobRun(input);
  setHandler(jobCanceled, () => run.lookAgain());
  for (let step = run.firstStep(); ; ) {
    const state: AttemptReport = step === 'attempt' ? await run.attempt() : await run.look();
    if (!isUnfinished(state)) return endAs(state);
    step = await run.wait(state);
  }
}
