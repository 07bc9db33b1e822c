import { ApiError } from '../../contract/api-error.ts';
import type { ChangedJob } from '../../domain/jobs/list-changed-jobs.ts';
import type { Cursors } from '../../domain/page.ts';
import { toJobEvent } from '../presenters/job.ts';
import type { StreamEvent } from '../procedure.ts';

const largestSmallBytes = 32 * 1024;

/** Whether a job's event is large: rendered for each stream, and sent to one client after another. */
export function isLarge({ bytes }: ChangedJob): boolean {
  return bytes > largestSmallBytes;
}

/** Renders the event of a job; that of a small one once for all streams. */
export function createRenderer(cursors: Cursors): (job: ChangedJob) => StreamEvent {
  const rendered = new WeakMap<ChangedJob, StreamEvent>();
  return (job) => {
    const known = rendered.get(job);
    if (known) return known;
    // The id is of the job's place in the order: a later one would let the client resume after changes that it was not told of.
    const id = encodeEventId(cursors, job.organization_id, { createdAt: job.changedAt, id: job.id });
    const event = { id, data: toJobEvent(job) };
    if (!isLarge(job)) rendered.set(job, event);
    return event;
  };
}

/** The id of an event: its place in the order of an organization's changes. Only streams of that organization accept it. */
export function encodeEventId(cursors: Cursors, organizationId: string, place: { createdAt: Date; id: string }): string {
  return cursors.encode(scopeOf(organizationId), place);
}

/** When the change happened that an event told of, by the event's id. Throws BAD_REQUEST if the id is not one of the organization. */
export function decodeEventId(cursors: Cursors, organizationId: string, eventId: string): Date {
  try {
    return cursors.decode(scopeOf(organizationId), eventId).createdAt;
  } catch {
    const message = 'The Last-Event-Id was not issued by this stream.';
    throw new ApiError('BAD_REQUEST', { message, data: { issues: [{ path: ['Last-Event-Id'], message }] } });
  }
}

function scopeOf(organizationId: string): string {
  return `job-events:${organizationId}`;
}
