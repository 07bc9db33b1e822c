import {
  CancellationScope,
  condition,
  defineSignal,
  isCancellation,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import type { JobState } from '../domain/jobs/job.ts';
import type { AttemptFailure } from '../domain/jobs/settle-attempt.ts';
import { jobTaskQueue, type RunJobInput, signals } from './definitions.ts';
import {
  type AttemptReport,
  canceledByOperator,
  describeFailure,
  describeWait,
  endAs,
  isCanceled,
  type Unfinished,
} from './job-outcomes.ts';

const jobCanceled = defineSignal(signals.jobCanceled);

const { settleAttempt } = proxyActivities<Activities>({
  startToCloseTimeout: '30 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '30 seconds' },
});

/** While another run holds the job: long enough not to fill the history, short enough to follow the sweep. */
const heldElsewhereMs = 15_000;

/** An attempt that a full worker handed back had its turn in the queue: it goes before those that had none (3 is the default). */
const handedBackPriority = { priorityKey: 2 };

/**
 * Carries one job through its attempts to its end (docs/rules.md, job states). Each failed attempt and each wait is a step of the history.
 * The row decides: a run that finds the job final, or held by another run, changes nothing. Fails only if the job failed.
 */
export async function runJob(input: RunJobInput): Promise<{ status: string }> {
  const run = new JobRun(input);
  setHandler(jobCanceled, () => run.lookAgain());
  for (let step = run.firstStep(); ; ) {
    const state = step === 'attempt' ? await run.attempt() : await run.look();
    if (state.status !== 'queued' && state.status !== 'running') return endAs(state);
    step = await run.wait(state);
  }
}

/** One run of the workflow. Neither attempts nor waits throw: a crash, a timeout, an error and a cancellation are settled against the row. */
class JobRun {
  private attempts = 0;
  private handedBack = false;
  private woken = false;
  private scope: CancellationScope | undefined;
  private readonly input: RunJobInput;
  private readonly runJobAttempt;

  constructor(input: RunJobInput) {
    this.input = input;
    this.runJobAttempt = proxyActivities<Activities>(attemptOptions(input)).runJobAttempt;
  }

  /** An attempt, unless the job became final before the workflow's first task: its turn in the queue would be for nothing. */
  firstStep(): 'attempt' | 'look' {
    return this.woken ? 'look' : 'attempt';
  }

  /** The job became final: an attempt that no worker has begun is taken back, a wait ends. */
  lookAgain(): void {
    this.woken = true;
    this.scope?.cancel();
  }

  async attempt(): Promise<AttemptReport> {
    const { jobId, kind } = this.input;
    const claimedBy = `${workflowInfo().runId}/${++this.attempts}`;
    const options = { ...attemptOptions(this.input), ...(this.handedBack ? { priority: handedBackPriority } : {}) };
    setCurrentDetails(`Attempt ${this.attempts} of this run is under way or waits for a worker.`);
    try {
      this.scope = new CancellationScope();
      const state = await this.scope.run(() => this.runJobAttempt.executeWithOptions(options, [{ jobId, kind, claimedBy }]));
      this.handedBack = state.status === 'queued' && state.handedBack === true;
      return state;
    } catch (error) {
      return await this.settle(claimedBy, describeFailure(error));
    } finally {
      this.scope = undefined;
    }
  }

  /** Where the job stands, without an attempt. One that an operator canceled ends, unless another run holds it. */
  look(): Promise<JobState> {
    return this.settle(`${workflowInfo().runId}/0`, isCanceled() ? canceledByOperator : undefined);
  }

  /** Waits on a durable timer for what comes next; the wait ends early when the job became final or an operator cancels. */
  async wait(state: Unfinished): Promise<'attempt' | 'look'> {
    const heldElsewhere = state.status === 'running';
    const waitMs = heldElsewhere ? heldElsewhereMs : state.delayMs;
    setCurrentDetails(describeWait(state, waitMs));
    if (isCanceled()) {
      // A canceled scope waits no more, and asking at once again would fill the history.
      if (heldElsewhere) await CancellationScope.nonCancellable(() => sleep(waitMs));
      return 'look';
    }
    try {
      if (waitMs > 0) await condition(() => this.woken, waitMs);
    } catch (error) {
      if (!isCancellation(error)) throw error;
      return 'look';
    }
    const { woken } = this;
    this.woken = false;
    return woken || heldElsewhere ? 'look' : 'attempt';
  }

  private settle(claimedBy: string, failure: AttemptFailure | undefined): Promise<JobState> {
    const { jobId } = this.input;
    return CancellationScope.nonCancellable(() => settleAttempt({ jobId, claimedBy, ...(failure ? { failure } : {}) }));
  }
}

function attemptOptions({ kind, timeoutMs }: RunJobInput) {
  return {
    taskQueue: jobTaskQueue(kind),
    startToCloseTimeout: timeoutMs * 10,
    heartbeatTimeout: '10 seconds',
    retry: { maximumAttempts: 1 },
    cancellationType: 'WAIT_CANCELLATION_COMPLETED',
  } as const;
}
