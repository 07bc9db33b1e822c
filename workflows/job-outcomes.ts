import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  isCancellation,
  setCurrentDetails,
  TimeoutFailure,
  upsertSearchAttributes,
} from '@temporalio/workflow';
import { canceledByOperator, heldElsewhere, settledDetail, unknownPayloadKey } from '../contract/intents/definitions.ts';
import type { EndedJob, UnfinishedJob } from '../domain/jobs/job.ts';
import type { AttemptFailure } from '../domain/jobs/settle-attempt.ts';

const workerLost: AttemptFailure = { code: 'worker_lost', message: 'The worker was lost during the attempt.', retryable: true };
const workflowCanceled: AttemptFailure = {
  code: canceledByOperator,
  message: 'The job was canceled by an operator.',
  retryable: false,
};

/** Whether an operator canceled the workflow. */
export function isCanceled(): boolean {
  return CancellationScope.current().consideredCancelled;
}

/** How the job ended, if the attempt that threw has settled it as failed. */
export function settledFailure(error: unknown): EndedJob | undefined {
  const cause = error instanceof ActivityFailure ? error.cause : undefined;
  if (!(cause instanceof ApplicationFailure) || cause.details?.[0] !== settledDetail) return undefined;
  return { status: 'failed', error: { code: cause.type ?? 'unknown', message: cause.message } };
}

/**
 * The failure of a job whose attempts Temporal gave up; undefined if they were canceled because the job is final, or if another attempt holds
 * it, which goes on.
 */
export function describeFailure(error: unknown): AttemptFailure | undefined {
  if (isCancellation(error)) return isCanceled() ? workflowCanceled : undefined;
  const cause = error instanceof ActivityFailure ? error.cause : error;
  if (cause instanceof TimeoutFailure) {
    if (cause.timeoutType === 'HEARTBEAT') return workerLost;
    return { code: 'timeout', message: 'The attempt took too long.', retryable: true };
  }
  if (cause instanceof ApplicationFailure && cause.type === heldElsewhere) return undefined;
  // Such an attempt never claimed the job. If one of this run holds it all the same, that one was lost.
  if (cause instanceof ApplicationFailure && cause.type === unknownPayloadKey) return workerLost;
  if (cause instanceof ApplicationFailure && cause.type) return { code: cause.type, message: cause.message, retryable: true };
  return { code: 'internal_error', message: 'The attempt failed inside the service.', retryable: true };
}

/** The details that Temporal's UI shows while the workflow waits by itself. */
export function describeWait(state: UnfinishedJob): string {
  if (state.status === 'queued' && state.waitsFor === 'suspension') return 'Waits until the suspension of its organization is lifted.';
  if (state.status === 'queued' && state.waitsFor) return `Waits until ${state.waitsFor} is there again; see npm run ops -- outages.`;
  if (state.status === 'running') return 'Another run holds the job; this one waits for it to end.';
  return 'An attempt ended without counting; the next one is scheduled soon.';
}

/** Ends the workflow as its job ended; `withCode`, so that it is found by the code of the error. Throws only if the job failed. */
export function endAs(outcome: EndedJob, { withCode }: { withCode: boolean }): { status: string } {
  const code = withCode && outcome.status === 'failed' ? { ErrorCode: [outcome.error.code] } : {};
  upsertSearchAttributes({ JobStatus: [outcome.status], ...code });
  if (outcome.status !== 'failed') {
    setCurrentDetails(`The job is ${outcome.status}.`);
    return { status: outcome.status };
  }
  setCurrentDetails(`The job failed: ${outcome.error.message} (${outcome.error.code})`);
  throw ApplicationFailure.nonRetryable(outcome.error.message, outcome.error.code);
}
