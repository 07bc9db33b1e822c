import type { WorkflowStartOptions } from '@temporalio/client';
import { type SearchAttributePair, TypedSearchAttributes } from '@temporalio/common';
import { mainTaskQueue, type RunJobInput } from '../workflows/definitions.ts';
import { searchAttributes } from './search-attributes.ts';

/** What a start needs beside the intent: how long the deployment lets an attempt run, in milliseconds. */
export interface StartSettings {
  jobTimeoutMs: number;
}

/** How much of the workers' time the tenants of a plan get, relative to each other (design, fairness). */
const fairnessWeights: Record<string, number> = { free: 1, pro: 2, team: 4 };

type Input = Record<string, unknown> & { organizationId?: string; workspaceId?: string | null; documentId?: string | null };

/**
 * The options that start the workflow of an intent: its queue, search attributes, the tenant's share of the workers, and a
 * summary that an operator reads. A run under way is used; a finished one may be followed by another, which finds the row final.
 */
export function startOptions(workflow: string, workflowId: string, input: Input, settings: StartSettings): WorkflowStartOptions {
  const { plan, ...rest } = input as Input & { plan?: string };
  return {
    taskQueue: mainTaskQueue,
    workflowId,
    args: [workflow === 'runJob' ? { ...rest, timeoutMs: settings.jobTimeoutMs } : rest],
    workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    workflowIdConflictPolicy: 'USE_EXISTING',
    typedSearchAttributes: new TypedSearchAttributes(attributesOf(workflow, input)),
    staticSummary: summaryOf(workflow, input),
    ...(input.organizationId
      ? { priority: { fairnessKey: input.organizationId, fairnessWeight: fairnessWeights[plan ?? 'free'] ?? 1 } }
      : {}),
  };
}

function attributesOf(workflow: string, input: Input): SearchAttributePair[] {
  const pairs: SearchAttributePair[] = [];
  if (input.organizationId) pairs.push({ key: searchAttributes.organizationId, value: input.organizationId });
  if (input.workspaceId) pairs.push({ key: searchAttributes.workspaceId, value: input.workspaceId });
  if (input.documentId) pairs.push({ key: searchAttributes.documentId, value: input.documentId });
  if (workflow === 'runJob') {
    pairs.push({ key: searchAttributes.jobKind, value: (input as unknown as RunJobInput).kind });
    pairs.push({ key: searchAttributes.jobStatus, value: 'queued' });
  }
  return pairs;
}

function summaryOf(workflow: string, input: Input): string {
  if (workflow === 'sendMail') return `${input.kind} mail`;
  const what = workflow === 'runJob' ? String(input.kind) : workflow;
  const document = input.documentId ? ` of document ${input.documentId}` : '';
  return `${what}${document} for organization ${input.organizationId ?? '(none)'}`;
}
