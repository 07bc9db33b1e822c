import type { WorkflowStartOptions } from '@temporalio/client';
import { type SearchAttributePair, TypedSearchAttributes } from '@temporalio/common';
import { mainTaskQueue, type StartIntent } from '../../contract/intents/definitions.ts';
import type { PlanName } from '../../db/schema.ts';
import { searchAttributes } from './namespace.ts';

/** The settings of a start besides the intent. */
export interface StartSettings {
  /** How long an attempt of a job may run. */
  timeoutMs: number;
  /** The waits between attempts. */
  retryDelaysMs: readonly number[];
}

/** How long after its creation an uncompleted upload is checked; its row decides whether its time is over. */
const uploadDelay = '24 hours';
const uploadDetails = 'Begins when the upload ends, or a day after it began, and then removes it.';

/** The weight of an organization among the workers by its plan. */
const fairnessWeights: Record<PlanName, number> = { free: 1, pro: 2, team: 4 };

/**
 * The options that start the workflow of an intent. A running workflow is used; a finished one may be followed by another, which finds the
 * row final (docs/rules.md, the row decides). An upload has only one run, since the signal that it ended may come before its start.
 */
export function startOptions(intent: StartIntent, settings: StartSettings): WorkflowStartOptions {
  const { organizationId } = idsOf(intent);
  const isDelayed = intent.workflow === 'upload' && intent.signal === undefined;
  return {
    taskQueue: mainTaskQueue,
    workflowId: intent.workflowId,
    args: [intent.workflow === 'runJob' ? { ...intent.input, ...limitsOf(settings) } : intent.input],
    workflowIdReusePolicy: isDelayed ? 'REJECT_DUPLICATE' : 'ALLOW_DUPLICATE',
    workflowIdConflictPolicy: 'USE_EXISTING',
    typedSearchAttributes: new TypedSearchAttributes(attributesOf(intent)),
    staticSummary: summaryOf(intent),
    ...(intent.workflow === 'upload' ? { staticDetails: uploadDetails } : {}),
    ...(isDelayed ? { startDelay: uploadDelay } : {}),
    ...(organizationId ? { priority: { fairnessKey: fairnessKeyOf(organizationId, intent), fairnessWeight: weightOf(intent) } } : {}),
  };
}

function limitsOf({ timeoutMs, retryDelaysMs }: StartSettings) {
  return { timeoutMs, firstDelayMs: retryDelaysMs[0] ?? 0, longestDelayMs: Math.max(...retryDelaysMs, 0) };
}

/**
 * The fairness key: Temporal serves all keys alike. An organization's short jobs have a key of their own, so that they pass its long ones.
 * A priority would let them pass the jobs of other organizations, too.
 */
function fairnessKeyOf(organizationId: string, intent: StartIntent): string {
  return intent.workflow === 'runJob' && intent.isShort ? `${organizationId}-short` : organizationId;
}

function weightOf(intent: StartIntent): number {
  return fairnessWeights[(intent.workflow === 'runJob' && intent.plan) || 'free'];
}

/** The rows that an intent is about. */
function idsOf({ input }: StartIntent): { organizationId?: string; workspaceId?: string | null; documentId?: string | null } {
  return 'organizationId' in input ? input : {};
}

function attributesOf(intent: StartIntent): SearchAttributePair[] {
  const { organizationId, workspaceId, documentId } = idsOf(intent);
  const pairs: SearchAttributePair[] = [];
  if (organizationId) pairs.push({ key: searchAttributes.organizationId, value: organizationId });
  if (workspaceId) pairs.push({ key: searchAttributes.workspaceId, value: workspaceId });
  if (documentId) pairs.push({ key: searchAttributes.documentId, value: documentId });
  if (intent.workflow === 'runJob') {
    pairs.push({ key: searchAttributes.jobKind, value: intent.input.kind });
    pairs.push({ key: searchAttributes.jobStatus, value: 'queued' });
  }
  return pairs;
}

function summaryOf(intent: StartIntent): string {
  if (intent.workflow === 'sendMail') return `${intent.input.kind} mail`;
  const what = intent.workflow === 'runJob' ? intent.input.kind : intent.workflow;
  const { documentId, organizationId } = idsOf(intent);
  return `${what}${documentId ? ` of document ${documentId}` : ''} for organization ${organizationId}`;
}
