import { sql } from 'kysely';
import type { Db } from '../../db/connect.ts';
import type { JobStatus } from '../../db/schema.ts';
import { type Cursors, type Page, toPage } from '../page.ts';
import { type JobRow, selectJobs, selectJobsWithoutResult } from './job.ts';

export interface JobFilter {
  organizationId: string;
  workspaceId?: string | undefined;
  documentId?: string | undefined;
  status?: JobStatus | undefined;
  limit: number;
  cursor?: string | undefined;
  includeResult: boolean;
}

/** A page of an organization's jobs, newest first. Without `includeResult` the results are not even read. */
export async function listJobs(db: Db, cursors: Cursors, filter: JobFilter): Promise<Page<JobRow>> {
  const scope = `jobs:${filter.organizationId}`;
  const after = filter.cursor === undefined ? undefined : cursors.decode(scope, filter.cursor);
  let query = (filter.includeResult ? selectJobs(db) : selectJobsWithoutResult(db))
    .where('organization_id', '=', filter.organizationId)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(filter.limit + 1);
  if (filter.workspaceId !== undefined) query = query.where('workspace_id', '=', filter.workspaceId);
  if (filter.documentId !== undefined) query = query.where('document_id', '=', filter.documentId);
  if (filter.status !== undefined) query = query.where('status', '=', filter.status);
  if (after) query = query.where(sql<boolean>`(created_at, id) < (${after.createdAt}, ${after.id})`);
  return toPage(await query.execute(), filter.limit, cursors, scope);
}
