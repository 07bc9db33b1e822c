import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  condition,
  defineSignal,
  isCancellation,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  TimeoutFailure,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import type { AttemptFailure } from '../domain/jobs/settle-attempt.ts';
import type { Settlement } from '../domain/jobs/settlement.ts';
import { jobTaskQueue, type RunJobInput, signals } from './definitions.ts';

const jobCanceled = defineSignal(signals.jobCanceled);

const { settleAttempt } = proxyActivities<Activities>({
  startToCloseTimeout: '30 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '30 seconds' },
});

/** While another run holds the job: long enough not to fill the history, short enough to follow the sweep. */
const heldElsewhereMs = 15_000;

/**
 * Carries one job through its attempts to its end (spec §3, Job). Each failed attempt and each wait is a step of the history.
 * The row decides: a run that finds the job final, or held by another run, changes nothing. Fails only where the job failed.
 */
export async function runJob(input: RunJobInput): Promise<{ status: string }> {
  const attempts = new Attempts(input);
  setHandler(jobCanceled, () => attempts.cancel());
  for (;;) {
    const outcome = await attempts.next();
    if (outcome.status !== 'queued' && outcome.status !== 'running') return endAs(outcome);
    const waitMs = outcome.status === 'queued' ? outcome.delayMs : heldElsewhereMs;
    describeWait(outcome, waitMs, attempts.count);
    await attempts.wait(waitMs);
  }
}

/** The attempts of one run. An attempt never throws: a crash, a timeout and an error are all settled against the row. */
class Attempts {
  count = 0;
  private canceled = false;
  private interrupted = false;
  private scope: CancellationScope | undefined;
  private readonly input: RunJobInput;
  private readonly runJobAttempt: Activities['runJobAttempt'];

  constructor(input: RunJobInput) {
    this.input = input;
    this.runJobAttempt = proxyActivities<Activities>({
      taskQueue: jobTaskQueue(input.kind),
      startToCloseTimeout: input.timeoutMs * 10,
      heartbeatTimeout: '10 seconds',
      retry: { maximumAttempts: 1 },
      cancellationType: 'WAIT_CANCELLATION_COMPLETED',
    }).runJobAttempt;
  }

  /** The tenant canceled the job: an attempt that no worker has begun is taken back, a wait ends. */
  cancel(): void {
    this.canceled = true;
    this.scope?.cancel();
  }

  async next(): Promise<Settlement> {
    this.count++;
    const attempt = { jobId: this.input.jobId, claimedBy: `${workflowInfo().runId}/${this.count}` };
    try {
      if (this.interrupted) throw ApplicationFailure.nonRetryable('The job was canceled by an operator.', 'canceled_by_operator');
      setCurrentDetails(`Attempt ${this.count} of this run is under way or waits for a worker.`);
      this.scope = new CancellationScope();
      return await this.scope.run(() => this.runJobAttempt({ ...attempt, kind: this.input.kind }));
    } catch (error) {
      const failure = describeFailure(error, this.canceled);
      return await CancellationScope.nonCancellable(() => settleAttempt({ ...attempt, failure }));
    } finally {
      this.scope = undefined;
    }
  }

  /** Waits on a durable timer, ended early when the tenant cancels; an operator's cancellation is settled by the next attempt. */
  async wait(delayMs: number): Promise<void> {
    try {
      if (delayMs > 0) await condition(() => this.canceled, delayMs);
    } catch (error) {
      if (!isCancellation(error)) throw error;
      this.interrupted = true;
    }
  }
}

function describeFailure(error: unknown, canceledByTenant: boolean): AttemptFailure {
  if (isCancellation(error)) {
    // The row says `canceled` already where the tenant did it, so this failure decides nothing there.
    const byOperator = CancellationScope.current().consideredCancelled && !canceledByTenant;
    return byOperator
      ? { code: 'canceled_by_operator', message: 'The job was canceled by an operator.', retryable: false }
      : { code: 'worker_lost', message: 'The worker was lost during the attempt.', retryable: true };
  }
  const cause = error instanceof ActivityFailure ? error.cause : error;
  if (cause instanceof TimeoutFailure) {
    const lost = cause.timeoutType === 'HEARTBEAT';
    return lost
      ? { code: 'worker_lost', message: 'The worker was lost during the attempt.', retryable: true }
      : { code: 'timeout', message: 'The attempt took too long.', retryable: true };
  }
  if (cause instanceof ApplicationFailure && cause.type) {
    const details = cause.details?.[0] as { retryAfterMs?: number } | undefined;
    return { code: cause.type, message: cause.message, retryable: !cause.nonRetryable, retryAfterMs: details?.retryAfterMs };
  }
  return { code: 'internal_error', message: 'The attempt failed inside the service.', retryable: true };
}

function describeWait(outcome: Settlement, waitMs: number, count: number): void {
  if (outcome.status === 'running') {
    setCurrentDetails('Another run holds the job; this one waits for it to end.');
    return;
  }
  const error = outcome.status === 'queued' && outcome.error ? `: ${outcome.error.message} (${outcome.error.code})` : '';
  const next = new Date(Date.now() + waitMs).toISOString();
  setCurrentDetails(`Attempt ${count} of this run failed${error}. The next one begins at ${next}.`);
}

function endAs(outcome: Settlement): { status: string } {
  upsertSearchAttributes({ JobStatus: [outcome.status] });
  if (outcome.status !== 'failed') {
    setCurrentDetails(`The job is ${outcome.status}.`);
    return { status: outcome.status };
  }
  setCurrentDetails(`The job failed: ${outcome.error.message} (${outcome.error.code})`);
  throw ApplicationFailure.nonRetryable(outcome.error.message, outcome.error.code);
}
