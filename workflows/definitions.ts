import type { JobKind } from '../db/schema.ts';

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
