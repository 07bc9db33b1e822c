import { sql } from 'kysely';
import { anyOf } from '../../db/batched-read.ts';
import type { Db } from '../../db/connect.ts';
import type { JobKind, JobStatus } from '../../db/schema.ts';
import { type Cursors, cursorAfter, fitPage, maxPageBytes, type Page, readRows, rowBytes, type SizedPage } from '../page.ts';
import { headColumns, inputBytes, type JobRow, resultBytes } from './job.ts';

interface JobFilter {
  organizationId: string;
  workspaceId?: string | undefined;
  documentId?: string | undefined;
  kind?: JobKind | undefined;
  status?: JobStatus | undefined;
  limit: number;
  cursor?: string | undefined;
  includeResult: boolean;
}

/**
 * A page of an organization's jobs, newest first, that ends after `limit` jobs or 4 MiB. Without `includeResult` the results are not read
 * at all.
 */
export async function listJobs(db: Db, cursors: Cursors, filter: JobFilter): Promise<Page<JobRow>> {
  const scope = `jobs:${filter.organizationId}`;
  const page = await findPage(db, filter, filter.cursor === undefined ? undefined : cursors.decode(scope, filter.cursor));
  return { items: await readJobs(db, page, filter.includeResult), nextCursor: cursorAfter(page, cursors, scope) };
}

async function findPage(db: Db, filter: JobFilter, after: { at: Date; id: string } | undefined): Promise<SizedPage> {
  const { organizationId, workspaceId, documentId, kind, status, limit, includeResult } = filter;
  const conditions = [
    sql`organization_id = ${organizationId}`,
    ...(workspaceId === undefined ? [] : [sql`workspace_id = ${workspaceId}`]),
    ...(documentId === undefined ? [] : [sql`document_id = ${documentId}`]),
    ...(kind === undefined ? [] : [sql`kind = ${kind}`]),
    ...(status === undefined ? [] : [sql`status = ${status}`]),
    ...(after ? [sql`(created_at, id) < (${after.at}, ${after.id})`] : []),
  ];
  const bytes = sql`${sql.lit(rowBytes)} + ${inputBytes} ${includeResult ? sql`+ ${resultBytes}` : sql``}`;
  const sized = sql`
    select id, created_at as at, ${bytes} as bytes from job
    where ${sql.join(conditions, sql` and `)} order by created_at desc, id desc limit ${limit + 1}
  `;
  return fitPage(db, sized, { order: 'desc', limit, maxBytes: maxPageBytes });
}

async function readJobs(db: Db, page: SizedPage, includeResult: boolean): Promise<JobRow[]> {
  const result = includeResult ? sql<JobRow['result']>`result` : sql<JobRow['result']>`null`;
  const read = (ids: string[]) =>
    db
      .selectFrom('job')
      .select([...headColumns, 'input', result.as('result')])
      .where('id', '=', anyOf(ids))
      .execute();
  return await readRows(page, read);
}
