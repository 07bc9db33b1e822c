import { ApiError } from '../../contract/api-error.ts';
import type { ChangedJob } from '../../domain/jobs/list-changed-jobs.ts';
import type { Cursors } from '../../domain/page.ts';
import { toJobEvent } from '../presenters/job.ts';
import type { StreamEvent } from '../procedure.ts';

/** A job with its event, which all streams share. */
export interface JobEvent {
  job: ChangedJob;
  event: StreamEvent;
}

/** Renders the event of a job. Its id is that of the change: a later id would make the client skip changes when it resumes. */
export function renderJob(cursors: Cursors, job: ChangedJob): JobEvent {
  const id = encodeEventId(cursors, job.organization_id, { at: job.changedAt, id: job.id });
  return { job, event: { id, data: toJobEvent(job) } };
}

/** The id of an event: its position in the order of an organization's changes. Only streams of that organization accept it. */
export function encodeEventId(cursors: Cursors, organizationId: string, position: { at: Date; id: string }): string {
  return cursors.encode(`job-events:${organizationId}`, position);
}

/** The time of the change that an event id stands for. Throws BAD_REQUEST if the id is not one of the organization. */
export function decodeEventId(cursors: Cursors, organizationId: string, eventId: string): Date {
  try {
    return cursors.decode(`job-events:${organizationId}`, eventId).at;
  } catch {
    const message = 'The Last-Event-Id was not issued by this stream.';
    throw new ApiError('BAD_REQUEST', { message, data: { issues: [{ path: ['Last-Event-Id'], message }] } });
  }
}
