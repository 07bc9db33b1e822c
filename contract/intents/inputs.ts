import type { JobKind } from '../jobs.ts';

// The inputs, the results and the progress of workflows, as their histories hold them (docs/rules.md, ids in histories).

/** The inputs of the workflows that a transaction can start, by their names in Temporal's UI. */
export interface WorkflowInputs {
  runJob: RunJobInput;
  upload: UploadInput;
  sendMail: SendMailInput;
  deleteObjects: DeleteObjectsInput;
  deleteOrganization: DeleteOrganizationInput;
  deleteWorkspace: DeleteWorkspaceInput;
  syncSeats: SyncSeatsInput;
  syncCustomer: SyncCustomerInput;
  deliverWebhook: DeliverWebhookInput;
}

/** The purpose of a mail. */
export type MailKind =
  | 'verification'
  | 'password-reset'
  | 'email-change'
  | 'invitation'
  | 'contact'
  | 'payment-failed'
  | 'webhook-disabled'
  | 'notice';

export interface RunJobInput {
  jobId: string;
  kind: JobKind;
  organizationId: string;
  workspaceId: string | null;
  documentId: string | null;
  maxAttempts: number;
  /** How long an attempt may run, in milliseconds. The activity's own timeout is several times as long. */
  timeoutMs: number;
  /** The first and the longest wait after an attempt that could not settle its job, in milliseconds. */
  firstDelayMs: number;
  longestDelayMs: number;
  /** The wait before the first attempt, in milliseconds, of a run that continues a long one. */
  waitMs?: number;
}

/** The part that the transaction which starts a job knows; the rest comes from the configuration. */
export type StartedJobInput = Omit<RunJobInput, 'timeoutMs' | 'firstDelayMs' | 'longestDelayMs' | 'waitMs'>;

export interface UploadInput {
  documentId: string;
  organizationId: string;
  workspaceId: string;
}

export interface DeleteObjectsInput {
  organizationId: string;
  /** Carried over when a long deletion continues as new. */
  deleted?: number;
  after?: { dueAt: string; key: string };
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

/** How much was drained. Slightly too low if a worker was lost meanwhile. */
export interface DeleteWorkspaceResult {
  jobs: number;
  documents: number;
}

export interface SyncSeatsInput {
  organizationId: string;
}

/** The number of members, and Stripe's ids of the subscriptions that billed another number; null while billing is off. */
export type SyncSeatsResult = { members: number; changed: string[] } | null;

export interface SyncCustomerInput {
  organizationId: string;
}

/** Whether the customer had another name; null while billing is off. */
export type SyncCustomerResult = { renamed: boolean } | null;

export interface ReconcileBillingInput {
  /** False only compares. True by default. */
  repair?: boolean;
}

/**
 * How many subscriptions and customers were compared, and the provider's ids of subscriptions with a wrong row or wrong seats; null while
 * billing is off.
 */
export type ReconcileBillingResult = { subscriptions: number; different: string[]; seats: string[]; customers: number } | null;

/** The reason why there are no vector indexes, or those that were made and dropped; null if another run was working on them. */
export type ReconcileIndexesResult = { exact: string } | { pgvector: string; made: string[]; dropped: string[] } | null;

export interface DeliverWebhookInput {
  deliveryId: string;
  endpointId: string;
  organizationId: string;
}

/** How the delivery has ended; `gone` if it has no row, or was finished before; `held` if it waits, and another run will deliver it. */
export interface DeliverWebhookResult {
  status: 'delivered' | 'failed' | 'gone' | 'held';
}

/** How many rows and objects each step of a day's housekeeping removed, sealed, or found to be wrong. */
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
  webhookDeliveries: number;
  sealedSecrets: number;
  ledgerProblems: number;
  /** Documents, texts and jobs that workspaces keep no longer. */
  workspaceRetention: number;
  providerCalls: number;
}

/** A filter on failed jobs to retry, which must match every given field. Times are ISO 8601. */
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
  /** How many jobs to retry each minute; 60 by default. */
  perMinute?: number;
  /** How many jobs to retry at most; 1,000 by default. */
  limit?: number;
  /** The operator who asked, for the audit log. */
  requestedBy?: string;
  /** Carried over when a long replay continues as new. */
  progress?: ReplayProgress;
}

export interface ReplayProgress {
  matched: number;
  retried: number;
  /** How many jobs were not retried, by the code of the reason. */
  skipped: Record<string, number>;
  /** The last job of the page before. */
  after: string | null;
}

/** The kind of index: see `IndexKind` of the domain. */
interface ReindexTarget {
  model: string;
  dimensions: number;
  chunking: string;
}

export interface ReindexInput {
  /** Only this workspace, or only those of this organization; all by default. */
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
  /** How many workspaces were checked, and how many of their documents were behind. */
  workspaces: number;
  behind: number;
  /** How many documents were embedded, and their number of chunks. */
  embedded: number;
  chunks: number;
  /** How many documents are searched by the new vectors. */
  switched: number;
  /** How many workspaces keep their old vectors, because some documents cannot be embedded or they are `unswitched`. */
  kept: number;
  /** How many workspaces kept changing, or could not be switched. */
  unswitched: number;
  /** The first of them; absent if there are none. */
  unswitchedIds?: string[];
  /** How many documents cannot be embedded, and the first of them. */
  failures: number;
  failed: { documentId: string; code: string }[];
  /** The last workspace that was checked. */
  after: string;
  /** The workspace in progress, with its round, its last document, and the number that cannot be embedded. */
  current?: { workspaceId: string; round: number; after: string; failures: number } | undefined;
}

/** The outcome for some documents of a workspace; `last`: no more documents follow. */
export interface ReindexBatch {
  staged: number;
  chunks: number;
  failed: { documentId: string; code: string }[];
  after: string | null;
  last: boolean;
}
