import { ApplicationFailure } from '@temporalio/activity';
import { AiServiceError } from '../adapters/ai-service/client.ts';
import { StorageUnavailable } from '../adapters/storage/port.ts';
import { settledDetail } from '../contract/intents/definitions.ts';
import { DocumentGone } from '../domain/documents/document.ts';
import { TextReplaced } from '../domain/documents/document-text.ts';
import { ContentHeld } from '../domain/documents/replace-content.ts';
import type { JobError, UnfinishedJob } from '../domain/jobs/job.ts';
import type { AttemptFailure } from '../domain/jobs/settle-attempt.ts';
import { IndexSwitched } from '../domain/search/searched-index.ts';

/**
 * A failure of an attempt that the tenant may read. If `retryable`, the next attempt waits at least `retryAfterMs`; otherwise the job
 * fails.
 */
export class JobFailure extends Error {
  readonly code: string;
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;
  constructor(code: string, message: string, retryable: boolean, { retryAfterMs, cause }: { retryAfterMs?: number; cause?: unknown } = {}) {
    super(message, { cause });
    this.name = 'JobFailure';
    this.code = code;
    this.retryable = retryable;
    this.retryAfterMs = retryAfterMs;
  }
}

/** Converts an error for Temporal. Causes stay in the log. */
export function toApplicationFailure(error: unknown): ApplicationFailure {
  const { code, message, retryable } = toAttemptFailure(error);
  return ApplicationFailure.create({ type: code, message, nonRetryable: !retryable });
}

/**
 * The failure of an attempt that has settled its job (docs/rules.md, job states): final if the job failed, otherwise with the wait until
 * the next attempt.
 */
export function toSettledFailure({ code, message }: JobError, state: { status: 'failed' } | UnfinishedJob): ApplicationFailure {
  const failure = { type: code, message };
  if (state.status === 'failed') return ApplicationFailure.create({ ...failure, nonRetryable: true, details: [settledDetail] });
  // Temporal would replace a wait of zero by its own.
  return ApplicationFailure.create(state.status === 'queued' ? { ...failure, nextRetryDelay: Math.max(1, state.delayMs) } : failure);
}

/** Converts an error of an attempt into the failure of its job. */
export function toAttemptFailure(error: unknown): AttemptFailure {
  if (error instanceof JobFailure) {
    const { code, message, retryable, retryAfterMs } = error;
    return { code, message, retryable, retryAfterMs };
  }
  if (error instanceof DocumentGone) return { code: 'document_missing', message: error.message, retryable: false };
  if (error instanceof ContentHeld) return { code: 'legal_hold', message: error.message, retryable: false };
  if (error instanceof TextReplaced) return { code: 'text_replaced', message: error.message, retryable: true };
  if (error instanceof IndexSwitched) return { code: 'model_changed', message: error.message, retryable: true };
  if (error instanceof AiServiceError) return describeAiError(error);
  if (error instanceof StorageUnavailable)
    return { code: 'store_unavailable', message: 'The store of documents is not available just now.', retryable: true };
  if (error instanceof ApplicationFailure)
    return { code: error.type ?? 'internal_error', message: error.message, retryable: !error.nonRetryable };
  return { code: 'internal_error', message: 'The attempt failed inside the service.', retryable: true };
}

function describeAiError({ kind, code, message, retryable, retryAfterMs }: AiServiceError) {
  // A final rejection is about the document. Every other failure is about the deployment, whose details the tenant must not read.
  if (kind === 'rejected' && !retryable) return { code, message, retryable, retryAfterMs };
  const messages = {
    unreachable: 'The AI service could not be reached.',
    unusable_answer: 'The AI service gave an answer that cannot be used.',
    rejected: 'The AI service is not available just now.',
    failed: 'The AI service failed.',
  };
  return { code: kind === 'rejected' ? 'ai_unavailable' : `ai_${kind}`, message: messages[kind], retryable, retryAfterMs };
}
