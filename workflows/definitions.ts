import type { Sinks } from '@temporalio/workflow';
import type { JobKind, MailKind, PlanName } from '../db/schema.ts';
import type { EndedSpan } from '../telemetry/start-tracing.ts';
import type * as workflows from './index.ts';

/** The task queue of every workflow, and of the activities that are not attempts of a job. */
export const mainTaskQueue = 'sheaf';

/** The task queue of one kind's attempts: polled only by workers that have the kind's handler. */
export function jobTaskQueue(kind: JobKind): string {
  return `job-${kind}`;
}

/** The run of a workflow as a span. */
type EndedRun = Omit<EndedSpan, 'attributes'>;

/** The type of the failure of an activity whose input its worker could not decrypt. */
export const unknownPayloadKey = 'UnknownPayloadKey';

/** What the sandbox of the workflows calls outside: told of the run of a workflow that is a part of a trace, when it has ended. */
export interface TraceSinks extends Sinks {
  traces: {
    ended(run: EndedRun): void;
  };
}

/** Names of signals and queries, as operators see them in Temporal's UI. */
export const signals = {
  jobCanceled: 'jobCanceled',
  uploadEnded: 'uploadEnded',
  objectsAdded: 'objectsAdded',
  membersChanged: 'membersChanged',
  organizationChanged: 'organizationChanged',
} as const;
export const queries = { progress: 'progress' } as const;

/** The inputs and results of workflows (docs/rules.md, ids in histories). */
export interface RunJobInput {
  jobId: string;
  kind: JobKind;
  organizationId: string;
  workspaceId: string | null;
  documentId: string | null;
  /** How long an attempt may run, in milliseconds. The activity's own timeout is several times as long. */
  timeoutMs: number;
}

export interface UploadInput {
  documentId: string;
  organizationId: string;
  workspaceId: string;
  /** How long the upload may take, in milliseconds. The workflow starts with a delay of as long. */
  waitMs: number;
}

const uploadWaitMs = 24 * 3600 * 1000;

export interface DeleteObjectsInput {
  organizationId: string;
  /** Carried over when a long deletion continues as new. */
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

export interface DeleteWorkspaceInput {
  workspaceId: string;
  organizationId: string;
}

/** How much was drained; a little less than there was if a worker was lost meanwhile. */
export interface DeleteWorkspaceResult {
  jobs: number;
  documents: number;
}

export interface SyncSeatsInput {
  organizationId: string;
}

/** The count of members, and the provider's ids of the subscriptions that billed something else; null while billing is off. */
export type SyncSeatsResult = { members: number; changed: string[] } | null;

export interface SyncCustomerInput {
  organizationId: string;
}

/** Whether the customer had another name; null while billing is off. */
export type SyncCustomerResult = { renamed: boolean } | null;

export interface ReconcileBillingInput {
  /** False compares only; true if it is absent. */
  repair?: boolean;
}

/**
 * How many subscriptions and customers were compared, and the provider's ids of subscriptions whose row or whose seats were not right; null
 * while billing is off.
 */
export type ReconcileBillingResult = { subscriptions: number; different: string[]; seats: string[]; customers: number } | null;

/**
 * Why there are no vector indexes, or those that were made and dropped; null if another run was at it. And how many documents were given
 * the quantized vectors, how many the postings, and how many the note of their model, that they lacked.
 */
export type ReconcileIndexesResult =
  | (({ exact: string } | { pgvector: string; made: string[]; dropped: string[] }) & {
      quantized?: number;
      postings?: number;
      noted?: number;
    })
  | null;

/** How many rows and objects each step of a day's housekeeping removed. */
export interface HousekeepingResult {
  abandonedUploads: number;
  ownerlessOrganizations: number;
  finishedJobs: number;
  auditEntries: number;
  sessions: number;
  idempotencyKeys: number;
  mails: number;
  orphanedObjects: number;
  verifications: number;
  paymentEvents: number;
}

/** Which failed jobs to retry: those that match every field that is given. Times are ISO 8601. */
export interface ReplayFilter {
  organizationId?: string;
  kind?: JobKind;
  errorCode?: string;
  /** Failed at this time or later. */
  from?: string;
  /** Failed before this time. */
  to?: string;
}

/** What a replay takes for the fields that its input leaves out. */
export const replayDefaults = { perMinute: 60, limit: 1_000 };

export interface ReplayInput extends ReplayFilter {
  /** Counts what would be retried, and retries nothing. */
  dryRun?: boolean;
  /** How many jobs to retry each minute; 60 by default. */
  perMinute?: number;
  /** How many jobs to retry at most; 1,000 by default. */
  limit?: number;
  /** Who asked, for the audit log. */
  requestedBy?: string;
  /** Carried over when a long replay continues as new. */
  progress?: ReplayProgress;
}

export interface ReplayProgress {
  matched: number;
  retried: number;
  /** How many were not retried, by the code of the reason. */
  skipped: Record<string, number>;
  /** The last job of the page before. */
  after: string | null;
}

/** Whether a replay has found as many jobs as it takes: it does not look for more. */
export function isReplayLimited({ matched }: ReplayProgress, { limit = replayDefaults.limit }: ReplayInput): boolean {
  return matched >= limit;
}

/** A replay's progress in a sentence; in two if there may be more jobs than it takes. */
export function describeReplay(progress: ReplayProgress, input: ReplayInput): string {
  const { matched, retried, skipped } = progress;
  const more = isReplayLimited(progress, input)
    ? ` The limit of ${input.limit ?? replayDefaults.limit} is reached: there may be more.`
    : '';
  if (input.dryRun) return `${matched} jobs would be retried.${more}`;
  const reasons = Object.entries(skipped).map(([reason, count]) => `${count} ${reason}`);
  return `${retried} of ${matched} jobs retried${reasons.length > 0 ? `; not retried: ${reasons.join(', ')}` : ''}.${more}`;
}

/** With what documents are indexed: see `IndexKind` of the domain. */
interface ReindexTarget {
  model: string;
  dimensions: number;
  chunking: string;
}

export interface ReindexInput {
  /** Only this workspace; or only those of this organization; by default all. */
  workspaceId?: string;
  organizationId?: string;
  /** Counts what would be embedded, and embeds nothing. */
  dryRun?: boolean;
  /** How many documents to embed each minute at most; 600 by default. */
  perMinute?: number;
  /** Who asked, for the audit log. */
  requestedBy?: string;
  /** Carried over when a long run continues as new. */
  target?: ReindexTarget;
  progress?: ReindexProgress;
}

export interface ReindexProgress {
  target: ReindexTarget;
  /** Those that were looked at, and how many of their documents were behind. */
  workspaces: number;
  behind: number;
  /** Documents that were embedded, and their chunks. */
  embedded: number;
  chunks: number;
  /** Documents whose workspace is searched by the new vectors. */
  switched: number;
  /** Workspaces that keep their old vectors: some of their documents cannot be embedded, or they are `unswitched`. */
  kept: number;
  /** Workspaces that changed all the while, or whose switch failed. */
  unswitched: number;
  /** The first of them; absent if there are none. */
  unswitchedIds?: string[];
  /** How many cannot be, and the first of them. */
  failures: number;
  failed: { documentId: string; code: string }[];
  /** The last workspace that was looked at. */
  after: string;
  /** The workspace that is embedded now: in which round, after which document, and how many cannot be embedded. */
  current?: { workspaceId: string; round: number; after: string; failures: number } | undefined;
}

/** What became of some documents of a workspace; `last` if there are no more after them. */
export interface ReindexBatch {
  staged: number;
  chunks: number;
  failed: { documentId: string; code: string }[];
  after: string | null;
  last: boolean;
}

/** The name of a workflow, as Temporal's UI shows it. */
type WorkflowName = keyof typeof workflows;
type WorkflowInput<Name extends WorkflowName> = Parameters<(typeof workflows)[Name]>[0];
type SignalName = keyof typeof signals;

/**
 * What a transaction wants Temporal to do (docs/rules.md, outbox). A start uses the run that is under way, and sends it the signal if one
 * is named. A signal to a workflow that has ended has no effect.
 */
export type Intent = StartIntent | { operation: 'signal'; workflowId: string; signal: SignalName };

export type StartIntent =
  /** `timeoutMs` is added at the start, from the configuration. The plan decides the organization's share of the workers. */
  | (Start<'runJob', Omit<RunJobInput, 'timeoutMs'>> & { plan?: PlanName })
  | Start<'upload'>
  | Start<'sendMail'>
  | Start<'deleteObjects'>
  | Start<'deleteOrganization'>
  | Start<'deleteWorkspace'>
  | Start<'syncSeats'>
  | Start<'syncCustomer'>;

interface Start<Name extends WorkflowName, Input = WorkflowInput<Name>> {
  operation: 'start';
  workflow: Name;
  workflowId: string;
  input: Input;
  signal?: SignalName;
}

/** The ids of workflows; each has at most one run at a time. An empty id gives the prefix, for SQL. */
export const workflowIds = {
  runJob: (jobId: string) => `job-${jobId}`,
  upload: (documentId: string) => `upload-${documentId}`,
  sendMail: (mailId: string) => `mail-${mailId}`,
  deleteObjects: (organizationId: string) => `delete-objects-${organizationId}`,
  deleteOrganization: (organizationId: string) => `delete-organization-${organizationId}`,
  deleteWorkspace: (workspaceId: string) => `delete-workspace-${workspaceId}`,
  syncSeats: (organizationId: string) => `seats-${organizationId}`,
  syncCustomer: (organizationId: string) => `customer-${organizationId}`,
};

/** The job that a workflow runs; undefined if it is the id of another workflow. */
export function jobIdOf(workflowId: string): string | undefined {
  const prefix = workflowIds.runJob('');
  return workflowId.startsWith(prefix) ? workflowId.slice(prefix.length) : undefined;
}

/** Starts the workflow of a job. The plan of its organization decides its share of the workers. */
export function startJob(input: Omit<RunJobInput, 'timeoutMs'>, plan: PlanName | undefined): Intent {
  const intent = { operation: 'start', workflow: 'runJob', workflowId: workflowIds.runJob(input.jobId), input } as const;
  return plan === undefined ? intent : { ...intent, plan };
}

/** Ends the wait of a job's workflow, because the job became final. */
export function tellJobCanceled(jobId: string): Intent {
  return { operation: 'signal', workflowId: workflowIds.runJob(jobId), signal: 'jobCanceled' };
}

/** Starts the workflow that removes an upload if it is not completed in time. */
export function startUpload(upload: Omit<UploadInput, 'waitMs'>): Intent {
  return { operation: 'start', workflow: 'upload', workflowId: workflowIds.upload(upload.documentId), input: withWait(upload) };
}

/**
 * Ends the workflow of an upload, because the document was completed or deleted. A start with a signal, since a signal alone does not end
 * the delay of a workflow that has had no task.
 */
export function tellUploadEnded(upload: Omit<UploadInput, 'waitMs'>): Intent {
  const workflowId = workflowIds.upload(upload.documentId);
  return { operation: 'start', workflow: 'upload', workflowId, input: withWait(upload), signal: 'uploadEnded' };
}

function withWait({ documentId, organizationId, workspaceId }: Omit<UploadInput, 'waitMs'>): UploadInput {
  return { documentId, organizationId, workspaceId, waitMs: uploadWaitMs };
}

/** Starts the workflow that sends a mail. */
export function startMail(input: SendMailInput): Intent {
  return { operation: 'start', workflow: 'sendMail', workflowId: workflowIds.sendMail(input.mailId), input };
}

/** The signal reaches a run that is about to end, which then looks for more objects. */
export function startObjectDeletion(organizationId: string): Intent {
  const workflowId = workflowIds.deleteObjects(organizationId);
  return { operation: 'start', workflow: 'deleteObjects', workflowId, input: { organizationId }, signal: 'objectsAdded' };
}

export function startOrganizationDeletion(organizationId: string): Intent {
  const workflowId = workflowIds.deleteOrganization(organizationId);
  return { operation: 'start', workflow: 'deleteOrganization', workflowId, input: { organizationId } };
}

export function startWorkspaceDeletion(input: DeleteWorkspaceInput): Intent {
  return { operation: 'start', workflow: 'deleteWorkspace', workflowId: workflowIds.deleteWorkspace(input.workspaceId), input };
}

/** The signal makes a run that is under way look again. Migration 0006 makes the same intent when members change. */
export function startSeatSync(organizationId: string): Intent {
  const workflowId = workflowIds.syncSeats(organizationId);
  return { operation: 'start', workflow: 'syncSeats', workflowId, input: { organizationId }, signal: 'membersChanged' };
}

/** The signal makes a run that is under way look again. Migration 0015 makes the same intent when an organization's name or customer changes. */
export function startCustomerSync(organizationId: string): Intent {
  const workflowId = workflowIds.syncCustomer(organizationId);
  return { operation: 'start', workflow: 'syncCustomer', workflowId, input: { organizationId }, signal: 'organizationChanged' };
}
