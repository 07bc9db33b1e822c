import type { PlanName } from '../fields.ts';
import type { JobKind } from '../jobs.ts';
import type { DeleteWorkspaceInput, DeliverWebhookInput, SendMailInput, StartedJobInput, UploadInput, WorkflowInputs } from './inputs.ts';

// The names, starts and signals of workflows for the rest of the service. Imports neither their code nor anything that uses it.

/** The task queue of every workflow, and of the activities that are not attempts of a job. */
export const mainTaskQueue = 'sheaf';

/** The task queue of one kind's attempts: polled only by workers that have the kind's handler. */
export function jobTaskQueue(kind: JobKind): string {
  return `job-${kind}`;
}

/** The task queue of requests to webhook endpoints: slow receivers take no slots from other activities. */
export const webhookTaskQueue = 'webhooks';

/** The type of the failure of an activity whose input its worker could not decrypt. */
export const unknownPayloadKey = 'UnknownPayloadKey';

/** The type of the failure of an attempt that found its job held by another. */
export const heldElsewhere = 'held_elsewhere';

/** The code of a job whose workflow was canceled in Temporal. */
export const canceledByOperator = 'canceled_by_operator';

/** The first detail of a failure whose attempt has settled its job as failed, so that the workflow need not. */
export const settledDetail = 'settled';

/** Names of signals and queries, as operators see them in Temporal's UI. */
export const signals = {
  jobCanceled: 'jobCanceled',
  attemptRuns: 'attemptRuns',
  attemptDue: 'attemptDue',
  uploadEnded: 'uploadEnded',
  objectsAdded: 'objectsAdded',
  membersChanged: 'membersChanged',
  organizationChanged: 'organizationChanged',
  webhookResent: 'webhookResent',
} as const;
export const queries = { progress: 'progress' } as const;

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
  deliverWebhook: (deliveryId: string) => `webhook-${deliveryId}`,
};

/** The job that a workflow runs; undefined if it is the id of another workflow. */
export function jobIdOf(workflowId: string): string | undefined {
  const prefix = workflowIds.runJob('');
  return workflowId.startsWith(prefix) ? workflowId.slice(prefix.length) : undefined;
}

type SignalName = keyof typeof signals;

/**
 * A request of a transaction to Temporal (docs/rules.md, outbox). A start uses a running workflow, and sends it the signal if one is named.
 * A signal to a workflow that has ended has no effect.
 */
export type Intent = StartIntent | { operation: 'signal'; workflowId: string; signal: SignalName; organizationId: string };

export type StartIntent =
  /** The configuration adds the time limit and the waits at the start. */
  | (Start<'runJob', StartedJobInput> & JobPriority)
  | Start<'upload'>
  | Start<'sendMail'>
  | Start<'deleteObjects'>
  | Start<'deleteOrganization'>
  | Start<'deleteWorkspace'>
  | Start<'syncSeats'>
  | Start<'syncCustomer'>
  | Start<'deliverWebhook'>;

/** The fields that decide the priority of a job among those that wait for a worker. */
export interface JobPriority {
  /** The weight of its organization. */
  plan?: PlanName | undefined;
  /** Short jobs do not wait behind the long ones of their organization. */
  isShort?: boolean | undefined;
}

interface Start<Name extends keyof WorkflowInputs, Input = WorkflowInputs[Name]> {
  operation: 'start';
  workflow: Name;
  workflowId: string;
  input: Input;
  signal?: SignalName;
}

/** Starts the workflow of a job. */
export function startJob(input: StartedJobInput, priority: JobPriority = {}): Intent {
  return { operation: 'start', workflow: 'runJob', workflowId: workflowIds.runJob(input.jobId), input, ...priority };
}

/** Ends the wait of a job's workflow, because the job became final. */
export function signalJobCanceled(jobId: string, organizationId: string): Intent {
  return { operation: 'signal', workflowId: workflowIds.runJob(jobId), signal: 'jobCanceled', organizationId };
}

/** Ends the wait of a job's workflow, because what the job waited for is there. */
export function signalAttemptDue(jobId: string, organizationId: string): Intent {
  return { operation: 'signal', workflowId: workflowIds.runJob(jobId), signal: 'attemptDue', organizationId };
}

/** Starts the workflow that removes an upload if it is not completed in time. */
export function startUpload(upload: UploadInput): Intent {
  return { operation: 'start', workflow: 'upload', workflowId: workflowIds.upload(upload.documentId), input: idsOf(upload) };
}

/**
 * Ends the workflow of an upload, because the document was completed or deleted. The workflow waits a day for its first task. A signal
 * alone would not end that wait; a start with a signal does.
 */
export function signalUploadEnded(upload: UploadInput): Intent {
  const workflowId = workflowIds.upload(upload.documentId);
  return { operation: 'start', workflow: 'upload', workflowId, input: idsOf(upload), signal: 'uploadEnded' };
}

function idsOf({ documentId, organizationId, workspaceId }: UploadInput): UploadInput {
  return { documentId, organizationId, workspaceId };
}

/** Starts the workflow that sends a mail. */
export function startMail(input: SendMailInput): Intent {
  return { operation: 'start', workflow: 'sendMail', workflowId: workflowIds.sendMail(input.mailId), input };
}

/** Starts the deletion of an organization's stored objects. The signal makes a run that is about to end look again. */
export function startObjectDeletion(organizationId: string): Intent {
  const workflowId = workflowIds.deleteObjects(organizationId);
  return { operation: 'start', workflow: 'deleteObjects', workflowId, input: { organizationId }, signal: 'objectsAdded' };
}

/** Starts the workflow that deletes an organization's data. */
export function startOrganizationDeletion(organizationId: string): Intent {
  const workflowId = workflowIds.deleteOrganization(organizationId);
  return { operation: 'start', workflow: 'deleteOrganization', workflowId, input: { organizationId } };
}

/** Starts the workflow that drains a deleted workspace. */
export function startWorkspaceDeletion(input: DeleteWorkspaceInput): Intent {
  return { operation: 'start', workflow: 'deleteWorkspace', workflowId: workflowIds.deleteWorkspace(input.workspaceId), input };
}

/**
 * Starts the comparison of members with the billed seats. The signal makes a running workflow look again. A trigger in
 * db/triggers/plans.sql makes the same intent when members change.
 */
export function startSeatSync(organizationId: string): Intent {
  const workflowId = workflowIds.syncSeats(organizationId);
  return { operation: 'start', workflow: 'syncSeats', workflowId, input: { organizationId }, signal: 'membersChanged' };
}

/**
 * Starts the update of an organization's customer at the provider. The signal makes a running workflow look again. A trigger in
 * db/triggers/plans.sql makes the same intent when the name or the customer changes.
 */
export function startCustomerSync(organizationId: string): Intent {
  const workflowId = workflowIds.syncCustomer(organizationId);
  return { operation: 'start', workflow: 'syncCustomer', workflowId, input: { organizationId }, signal: 'organizationChanged' };
}

/**
 * Starts the workflow that delivers an event to an endpoint. `db/triggers/webhooks.sql` makes the same intent when an event happens. With
 * `again`, a signal makes a run that is about to end look again.
 */
export function startWebhook(input: DeliverWebhookInput, again?: 'again'): Intent {
  const intent = {
    operation: 'start',
    workflow: 'deliverWebhook',
    workflowId: workflowIds.deliverWebhook(input.deliveryId),
    input,
  } as const;
  return again ? { ...intent, signal: 'webhookResent' } : intent;
}
