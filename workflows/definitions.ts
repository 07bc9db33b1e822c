import type { JobKind, MailKind } from '../db/schema.ts';

/** The task queue of every workflow, and of the activities that are not attempts of a job. */
export const mainTaskQueue = 'sheaf';

/** The task queue of one kind's attempts: polled only by workers that have the kind's handler (spec §9). */
export function jobTaskQueue(kind: JobKind): string {
  return `job-${kind}`;
}

/** Names of signals and queries, as operators see them in Temporal's UI. */
export const signals = { jobCanceled: 'jobCanceled', uploadEnded: 'uploadEnded', objectsAdded: 'objectsAdded' } as const;
export const queries = { progress: 'progress' } as const;

/** Ids only, never contents (rule 8). */
export interface RunJobInput {
  jobId: string;
  kind: JobKind;
  organizationId: string;
  workspaceId: string | null;
  documentId: string | null;
  /** How long the deployment lets an attempt run, in milliseconds; several times this is the backstop. */
  timeoutMs: number;
}

export interface UploadInput {
  documentId: string;
  organizationId: string;
  workspaceId: string;
}

export interface DeleteObjectsInput {
  organizationId: string;
  /** Carried from run to run of a long deletion. */
  deleted?: number;
}

export interface SweepJobsResult {
  requeued: number;
  failed: number;
  restarted: number;
}

export interface SendMailInput {
  mailId: string;
  kind: MailKind;
}

export interface DeleteOrganizationInput {
  organizationId: string;
}

export interface DeleteOrganizationResult {
  objectsDeleted: number;
  objectsFailed: number;
}

/** How many rows and objects each step of a day's housekeeping removed (spec §8, Retention). */
export interface HousekeepingResult {
  abandonedUploads: number;
  finishedJobs: number;
  auditEntries: number;
  sessions: number;
  idempotencyKeys: number;
  mails: number;
  orphanedObjects: number;
  verifications: number;
  paymentEvents: number;
}

/** Which failed jobs to retry; what is absent does not narrow. Times are ISO 8601. */
export interface ReplayFilter {
  organizationId?: string;
  kind?: JobKind;
  errorCode?: string;
  /** Failed at this time or later. */
  from?: string;
  /** Failed before this time. */
  to?: string;
}

export interface ReplayInput extends ReplayFilter {
  /** Counts what would be retried, and retries nothing. */
  dryRun?: boolean;
  /** How many jobs to retry a minute; 60 where absent. */
  perMinute?: number;
  /** How many jobs to retry at the most; 1,000 where absent. */
  limit?: number;
  /** Who asked, for the audit log. */
  requestedBy?: string;
  /** Carried from run to run of a long replay. */
  progress?: ReplayProgress;
}

export interface ReplayProgress {
  matched: number;
  retried: number;
  /** Not retried, by the code of the reason: no credits left, document gone, retried by another. */
  skipped: Record<string, number>;
  /** The last job that was looked at. */
  after: string | null;
}
