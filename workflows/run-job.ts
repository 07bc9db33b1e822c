import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  condition,
  defineSignal,
  isCancellation,
  patched,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  sleep,
  TimeoutFailure,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import type { JobState } from '../domain/jobs/job-state.ts';
import type { AttemptFailure } from '../domain/jobs/settle-attempt.ts';
import { jobTaskQueue, type RunJobInput, signals } from './definitions.ts';

const jobCanceled = defineSignal(signals.jobCanceled);

const { settleAttempt } = proxyActivities<Activities>({
  startToCloseTimeout: '30 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '30 seconds' },
});

/** While another run holds the job: long enough not to fill the history, short enough to follow the sweep. */
const heldElsewhereMs = 15_000;

/** An attempt that a full worker handed back had its turn in the queue: it goes before those that had none (3 is the default). */
const handedBackPriority = { priorityKey: 2 };

const workerLost: AttemptFailure = { code: 'worker_lost', message: 'The worker was lost during the attempt.', retryable: true };
const canceledByOperator: AttemptFailure = {
  code: 'canceled_by_operator',
  message: 'The job was canceled by an operator.',
  retryable: false,
};

/** The state that an attempt leaves its job in. */
type AttemptReport = Awaited<ReturnType<Activities['runJobAttempt']>>;
type Unfinished = Extract<AttemptReport, { status: 'queued' | 'running' }>;

/**
 * Carries one job through its attempts to its end (spec §3, Job). Each failed attempt and each wait is a step of the history.
 * The row decides: a run that finds the job final, or held by another run, changes nothing. Fails only where the job failed.
 */
export async function runJob(input: RunJobInput): Promise<{ status: string }> {
  const run = new JobRun(input);
  setHandler(jobCanceled, () => run.lookAgain());
  for (let step = run.firstStep(); ; ) {
    const standing = step === 'attempt' ? await run.attempt() : await run.look();
    if (standing.status !== 'queued' && standing.status !== 'running') return endAs(standing);
    step = await run.wait(standing);
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
    return this.woken && patched('final-before-first-attempt') ? 'look' : 'attempt';
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
      const standing = await this.scope.run(() => this.runJobAttempt.executeWithOptions(options, [{ jobId, kind, claimedBy }]));
      this.handedBack = standing.status === 'queued' && standing.handedBack === true;
      return standing;
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
  async wait(standing: Unfinished): Promise<'attempt' | 'look'> {
    const heldElsewhere = standing.status === 'running';
    const waitMs = heldElsewhere ? heldElsewhereMs : standing.delayMs;
    setCurrentDetails(describeWait(standing, waitMs));
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

/** Whether an operator canceled the workflow. */
function isCanceled(): boolean {
  return CancellationScope.current().consideredCancelled;
}

function describeFailure(error: unknown): AttemptFailure {
  // An attempt that was taken back because the job became final: the row says so, and this failure decides nothing.
  if (isCancellation(error)) return isCanceled() ? canceledByOperator : workerLost;
  const cause = error instanceof ActivityFailure ? error.cause : error;
  if (cause instanceof TimeoutFailure) {
    if (cause.timeoutType === 'HEARTBEAT') return workerLost;
    return { code: 'timeout', message: 'The attempt took too long.', retryable: true };
  }
  if (cause instanceof ApplicationFailure && cause.type) {
    const details = cause.details?.[0] as { retryAfterMs?: number } | undefined;
    return { code: cause.type, message: cause.message, retryable: !cause.nonRetryable, retryAfterMs: details?.retryAfterMs };
  }
  return { code: 'internal_error', message: 'The attempt failed inside the service.', retryable: true };
}

function describeWait(standing: Unfinished, waitMs: number): string {
  if (standing.status === 'running') return 'Another run holds the job; this one waits for it to end.';
  if (standing.handedBack) return 'The worker was full; the attempt waits for another place.';
  const error = standing.error ? `The attempt failed: ${standing.error.message} (${standing.error.code}). ` : '';
  return `${error}The next attempt begins at ${new Date(Date.now() + waitMs).toISOString()}.`;
}

function endAs(outcome: Exclude<AttemptReport, Unfinished>): { status: string } {
  upsertSearchAttributes({ JobStatus: [outcome.status] });
  if (outcome.status !== 'failed') {
    setCurrentDetails(`The job is ${outcome.status}.`);
    return { status: outcome.status };
  }
  setCurrentDetails(`The job failed: ${outcome.error.message} (${outcome.error.code})`);
  throw ApplicationFailure.nonRetryable(outcome.error.message, outcome.error.code);
}
