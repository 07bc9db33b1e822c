import type { Selectable } from 'kysely';
import type { JobStatus, JobTable } from '../../db/schema.ts';

/** A job as the database holds it. */
export type JobRow = Selectable<JobTable>;

/** Statuses that a job never leaves. */
export const finalStatuses = ['succeeded', 'failed', 'canceled'] as const satisfies JobStatus[];

/** Whether a job is one of a workspace, or was when the workspace was deleted. */
export function isOfWorkspace(job: Pick<JobRow, 'workspace_id' | 'former_workspace_id'>, workspaceId: string): boolean {
  return (job.workspace_id ?? job.former_workspace_id) === workspaceId;
}

export function isFinal(status: JobRow['status']): boolean {
  return (finalStatuses as readonly string[]).includes(status);
}

/** Why a job failed: a code for machines, and a sentence that its tenant may read. */
export interface JobError {
  code: string;
  message: string;
}
