import { sql } from 'kysely';
import type { Db } from '../../db/connect.ts';

/** Failed jobs with the same error, of one kind and organization. */
interface Failures {
  code: string;
  kind: string;
  /** The organization's slug. */
  organization: string;
  jobs: number;
  lastAt: Date;
}

interface FailureFilter {
  organizationId?: string | undefined;
  /** ISO 8601; the end of the job is at or after it. */
  from?: string | undefined;
  /** ISO 8601; the end of the job is before it. */
  to?: string | undefined;
}

/** The failed jobs that match a filter, by error, kind and organization, the largest group first; at most `limit` groups. */
export async function listFailures(db: Db, { organizationId, from, to }: FailureFilter, limit: number): Promise<Failures[]> {
  const { rows } = await sql<Failures>`
    select code, kind, coalesce((select slug from organization where id = organization_id), organization_id) as organization, jobs, "lastAt"
    from (
      select coalesce(error_code, 'unknown') as code, kind, organization_id, count(*) as jobs, max(finished_at) as "lastAt" from job
      where status = 'failed'
        ${organizationId === undefined ? sql`` : sql`and organization_id = ${organizationId}`}
        ${from === undefined ? sql`` : sql`and finished_at >= ${from}`}
        ${to === undefined ? sql`` : sql`and finished_at < ${to}`}
      group by 1, 2, 3 order by jobs desc, 1, 2, 3 limit ${limit}
    ) as failed
    order by jobs desc, code, kind, organization
  `.execute(db);
  return rows;
}
