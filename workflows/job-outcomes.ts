import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  isCancellation,
  setCurrentDetails,
  TimeoutFailure,
  upsertSearchAttributes,
} from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import type { AttemptFailure } from '../domain/jobs/settle-attempt.ts';

/** The state of the job after an attempt. */
export type AttemptReport = Awaited<ReturnType<Activities['runJobAttempt']>>;
export type Unfinished = Extract<AttemptReport, { status: 'queued' | 'running' }>;

const workerLost: AttemptFailure = { code: 'worker_lost', message: 'The worker was lost during the attempt.', retryable: true };
export const canceledByOperator: AttemptFailure = {
  code: 'canceled_by_operator',
  message: 'The job was canceled by an operator.',
  retryable: false,
};

export function isUnfinished(state: AttemptReport): state is Unfinished {
  return state.status === 'queued' || state.status === 'running';
}

/** Whether an operator canceled the workflow. */
export function isCanceled(): boolean {
  return CancellationScope.current().consideredCancelled;
}

/** What an attempt that threw means for its job. */
export function describeFailure(error: unknown): AttemptFailure {
  // If the attempt was taken back because the job became final, the row is final and this failure has no effect.
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

/** The details that Temporal's UI shows while the workflow waits. */
export function describeWait(state: Unfinished, waitMs: number): string {
  if (state.status === 'running') return 'Another run holds the job; this one waits for it to end.';
  if (state.handedBack) return 'The worker was full; the attempt waits for a free slot.';
  const error = state.error ? `The attempt failed: ${state.error.message} (${state.error.code}). ` : '';
  return `${error}The next attempt begins at ${new Date(Date.now() + waitMs).toISOString()}.`;
}

/** Ends the workflow as its job ended. Throws only if the job failed. */
export function endAs(outcome: Exclude<AttemptReport, Unfinished>): { status: string } {
  upsertSearchAttributes({ JobStatus: [outcome.status] });
  if (outcome.status !== 'failed') {
    setCurrentDetails(`The job is ${outcome.status}.`);
    return { status: outcome.status };
  }
  setCurrentDetails(`The job failed: ${outcome.error.message} (${outcome.error.code})`);
  throw ApplicationFailure.nonRetryable(outcome.error.message, outcome.error.code);
}
