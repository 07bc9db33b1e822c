import type { z } from 'zod';
import type { jobEventSchema, jobListItemSchema, jobSchema } from '../../contract/jobs.ts';
import { isFinal, type JobRow } from '../../domain/jobs/job.ts';
import { progressOf } from '../../domain/jobs/stages.ts';

/** A job as the API shows it in full. */
export function toJob(job: JobRow): z.input<typeof jobSchema> {
  const input = job.retry_of === null ? job.input : { ...job.input, retryOf: job.retry_of };
  const shown = {
    id: job.id,
    organizationId: job.organization_id,
    workspaceId: job.workspace_id,
    documentId: job.document_id,
    kind: job.kind,
    status: job.status,
    input,
    result: job.result,
    error: job.error_code === null ? null : { code: job.error_code, message: job.error_message ?? '' },
    attempts: job.attempts,
    maxAttempts: job.max_attempts,
    credits: job.credits,
    createdBy: job.created_by,
    createdAt: job.created_at.toISOString(),
    startedAt: job.started_at?.toISOString() ?? null,
    finishedAt: job.finished_at?.toISOString() ?? null,
    nextAttemptAt: job.next_attempt_at?.toISOString() ?? null,
    ...(job.status === 'queued' && job.waiting_since ? { waiting: job.waits_for === 'suspension' ? 'suspension' : 'provider' } : {}),
    updatedAt: job.updated_at.toISOString(),
    ...(job.kind === 'document.process' ? { progress: progressOf(job) } : {}),
  };
  // The kind decides the shape of input and result; the contract validates both before the response is sent.
  return shown as unknown as z.input<typeof jobSchema>;
}

/** A job in a list, with its result only if the request asks for it. */
export function toJobListItem(job: JobRow, includeResult: boolean): z.input<typeof jobListItemSchema> {
  const { result, ...rest } = toJob(job);
  return (includeResult ? { ...rest, result } : rest) as z.input<typeof jobListItemSchema>;
}

/** A job in the stream: input and result once it is finished. */
export function toJobEvent(job: JobRow): z.input<typeof jobEventSchema> {
  const { input, result, ...rest } = toJob(job);
  return (isFinal(job.status) ? { ...rest, input, result } : rest) as z.input<typeof jobEventSchema>;
}
