import { HandlerUnfinishedPolicy } from '@temporalio/common';
import {
  CancellationScope,
  condition,
  continueAsNew,
  defineSignal,
  patched,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
  sleep,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import { jobTaskQueue, signals } from '../contract/intents/definitions.ts';
import type { RunJobInput } from '../contract/intents/inputs.ts';
import type { JobState, UnfinishedJob } from '../domain/jobs/job.ts';
import { describeFailure, describeWait, endAs, isCanceled, settledFailure } from './job-outcomes.ts';

const jobCanceled = defineSignal(signals.jobCanceled);
const attemptRuns = defineSignal(signals.attemptRuns);
const attemptDue = defineSignal(signals.attemptDue);

const ofTheRow = { startToCloseTimeout: '30 seconds', retry: { initialInterval: '1 second', maximumInterval: '30 seconds' } } as const;
const { settleAttempt } = proxyActivities<Activities>(ofTheRow);
// A local activity takes no task of its own, which every job would otherwise wait for.
const { readJobState } = proxyLocalActivities<Activities>(ofTheRow);

/** The minimum wait before the activity is scheduled again, because an attempt did not count or another run holds the job. */
const againMs = 10_000;

/**
 * Carries one job to its end (docs/rules.md, job states). Its attempts are those of one activity, which settles each itself; the workflow
 * settles a job whose attempts Temporal gave up. A run that finds the job final changes nothing (docs/rules.md, the row decides). Fails
 * only if the job failed.
 */
export async function runJob(input: RunJobInput): Promise<{ status: string }> {
  const { jobId } = input;
  const { runJobAttempt } = proxyActivities<Activities>({
    taskQueue: jobTaskQueue(input.kind),
    startToCloseTimeout: input.timeoutMs * 10,
    heartbeatTimeout: '10 seconds',
    // 10, 30, 90 s by default. An attempt that settles its job sets the time of the next one itself.
    retry: {
      initialInterval: Math.max(1, input.firstDelayMs),
      backoffCoefficient: 3,
      maximumInterval: Math.max(1, input.firstDelayMs, input.longestDelayMs),
      maximumAttempts: input.maxAttempts,
    },
    cancellationType: 'WAIT_CANCELLATION_COMPLETED',
  });
  const rowDecides = patched('the row decides');
  let scope = new CancellationScope();
  // Anybody may send the signals. This one cancels the attempt, or ends the wait for the next one, if the row is final.
  const whenCanceled = async () => {
    if (rowDecides && isUnfinished(await readState(jobId))) return;
    scope.cancel();
  };
  setHandler(jobCanceled, whenCanceled, { unfinishedPolicy: HandlerUnfinishedPolicy.ABANDON });
  const whenStateChanged = async () => {
    const state = rowDecides ? await readState(jobId) : undefined;
    if (state && isUnfinished(state)) upsertSearchAttributes({ JobStatus: [state.status] });
  };
  setHandler(attemptRuns, whenStateChanged, { unfinishedPolicy: HandlerUnfinishedPolicy.ABANDON });
  let isDue = false;
  setHandler(attemptDue, () => {
    isDue = true;
  });
  const wait = (ms: number) => (patched('a wait ends early') ? condition(() => isDue, ms) : sleep(ms));
  setCurrentDetails('The pending activity shows the attempt, the last failure and when the next attempt begins.');

  for (let { waitMs = 0 } = input; ; ) {
    const given = await scope
      .run(async () => {
        if (waitMs > 0) await wait(waitMs);
        isDue = false;
        return await runJobAttempt({ jobId });
      })
      .catch((error: unknown) => settledFailure(error) ?? settle(jobId, error));
    // An operator can give the activity any result.
    const state = rowDecides ? await readState(jobId) : given;
    if (!isUnfinished(state)) return endAs(state, { withCode: rowDecides });
    setCurrentDetails(describeWait(state));
    waitMs = waitMsOf(state);
    // In a canceled scope the wait would end at once, and repeated checks would fill the history.
    if (isCanceled()) await CancellationScope.nonCancellable(() => sleep(againMs));
    scope = new CancellationScope();
    // A job may wait for weeks, and looks again every few minutes: each look makes the history longer.
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof runJob>({ ...input, waitMs: isDue ? 0 : waitMs });
  }
}

function waitMsOf(state: UnfinishedJob): number {
  if (state.status === 'running') return againMs;
  return state.waitsFor ? state.delayMs : Math.max(state.delayMs, againMs);
}

function isUnfinished(state: JobState): state is UnfinishedJob {
  return state.status === 'queued' || state.status === 'running';
}

function readState(jobId: string): Promise<JobState> {
  return CancellationScope.nonCancellable(() => readJobState({ jobId }));
}

function settle(jobId: string, error: unknown): Promise<JobState> {
  const failure = describeFailure(error);
  return CancellationScope.nonCancellable(() => settleAttempt({ jobId, claimedBy: workflowInfo().runId, failure }));
}
