import type { TaskFailure, TaskFailureReason } from './sandbox/protocol.ts';
import { ServiceError } from './service-error.ts';

/** What was done with a text. */
export interface TextTask {
  /** The operation on the text. */
  done: 'summarized' | 'embedded' | 'searched for an answer';
  timeoutMs: number;
  /** The code of a failure that the text did not cause. */
  retryableCode: string;
}

/**
 * The error for a text whose task ended without a result. A text that kills its process or takes too long will do so again: 422
 * `unusable_text`, final. If the process was killed from outside or could not start, a retry may help: 503.
 */
export function explainTextFailure(failure: TaskFailure, { done, timeoutMs, retryableCode }: TextTask): ServiceError {
  const final: Partial<Record<TaskFailureReason, string>> = {
    timeout: `The text could not be ${done} within ${timeoutMs / 1000} seconds.`,
    memory: `The text needs more memory to be ${done} than it may use.`,
    deadly: `The text could not be ${done}: that was ended twice, and may need too much memory.`,
    crash: `The text could not be ${done}.`,
  };
  const message = final[failure.reason];
  if (message !== undefined) return new ServiceError(422, 'unusable_text', message, { cause: failure });
  return new ServiceError(503, retryableCode, `The text could not be ${done} just now.`, { cause: failure });
}
