import type { JobKind, MailKind } from '../db/schema.ts';
import type * as workflows from './index.ts';

/** The task queue of every workflow, and of the activities that are not attempts of a job. */
export const mainTaskQueue = 'sheaf';

/** The task queue of one kind's attempts: polled only by workers that have the kind's handler. */
export function jobTaskQueue(kind: JobKind): string {
  return `job-${kind}`;
}

/** Names of signals and queries, as operators see them in Temporal's UI. */
export const signals = { jobCanceled: 'jobCanceled', uploadEnded: 'uploadEnded', objectsAdded: 'objectsAdded' } as const;
export const queries = { progress: 'progress' } as const;

/** Ids only, never contents: text and vectors stay in Postgres (docs/rules.md, ids in histories). */
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

/**
 * Why there are no vector indexes, or those that were made and dropped; null if another run was at it. And how many documents were given
 * the quantized vectors that they lacked.
 */
export type ReconcileIndexesResult =
  | (({ exact: string } | { pgvector: string; made: string[]; dropped: string[] }) & { quantized?: number })
  | null;

/** How many rows and objects each step of a day's housekeeping removed. */
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

/** The name of a workflow, as Temporal's UI shows it. */
export type WorkflowName = keyof typeof workflows;
type WorkflowInput<Name extends WorkflowName> = Parameters<(typeof workflows)[Name]>[0];
type SignalName = keyof typeof signals;

/**
 * What a transaction wants of Temporal: it goes into the outbox (docs/rules.md, outbox). A start meets the run that is under way, and
 * signals it if a signal is named. A signal to a workflow that is gone tells nothing to nobody.
 */
export type Intent = StartIntent | { operation: 'signal'; workflowId: string; signal: SignalName };

export type StartIntent =
  /** What the deployment decides (`timeoutMs`) is added at the start; the plan decides the organization's share of the workers. */
  | (Start<'runJob', Omit<RunJobInput, 'timeoutMs'>> & { plan?: string })
  | Start<'upload'>
  | Start<'sendMail'>
  | Start<'deleteObjects'>
  | Start<'deleteOrganization'>;

interface Start<Name extends WorkflowName, Input = WorkflowInput<Name>> {
  operation: 'start';
  workflow: Name;
  workflowId: string;
  input: Input;
  signal?: SignalName;
}

/** The ids of workflows, one run at a time for each. Of an empty id they make the prefix, which SQL wants. */
export const workflowIds = {
  runJob: (jobId: string) => `job-${jobId}`,
  upload: (documentId: string) => `upload-${documentId}`,
  sendMail: (mailId: string) => `mail-${mailId}`,
  deleteObjects: (organizationId: string) => `delete-objects-${organizationId}`,
  deleteOrganization: (organizationId: string) => `delete-organization-${organizationId}`,
};

export function startJob(input: Omit<RunJobInput, 'timeoutMs'>, plan: string | undefined): Intent {
  const intent = { operation: 'start', workflow: 'runJob', workflowId: workflowIds.runJob(input.jobId), input } as const;
  return plan === undefined ? intent : { ...intent, plan };
}

/** Ends the wait of a job's workflow, because the job became final. */
export function tellJobCanceled(jobId: string): Intent {
  return { operation: 'signal', workflowId: workflowIds.runJob(jobId), signal: 'jobCanceled' };
}

export function startUpload(input: UploadInput): Intent {
  return { operation: 'start', workflow: 'upload', workflowId: workflowIds.upload(input.documentId), input };
}

/** Ends the wait for an upload, because the document was completed or deleted. */
export function tellUploadEnded(documentId: string): Intent {
  return { operation: 'signal', workflowId: workflowIds.upload(documentId), signal: 'uploadEnded' };
}

export function startMail(input: SendMailInput): Intent {
  return { operation: 'start', workflow: 'sendMail', workflowId: workflowIds.sendMail(input.mailId), input };
}

/** The signal makes a run that is about to end look again. */
export function startObjectDeletion(organizationId: string): Intent {
  const workflowId = workflowIds.deleteObjects(organizationId);
  return { operation: 'start', workflow: 'deleteObjects', workflowId, input: { organizationId }, signal: 'objectsAdded' };
}

export function startOrganizationDeletion(organizationId: string): Intent {
  const workflowId = workflowIds.deleteOrganization(organizationId);
  return { operation: 'start', workflow: 'deleteOrganization', workflowId, input: { organizationId } };
}
