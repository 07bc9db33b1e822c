import { sql } from 'kysely';
import type { Db } from '../../db/connect.ts';

/** The unfinished jobs of one kind and organization. Ages in seconds. */
export interface Backlog {
  kind: string;
  organization: string;
  queued: number;
  waiting: number;
  running: number;
  oldestSeconds: number;
}

/** What waits and runs, by kind and organization, the largest first; `waiting` are between two attempts. */
export async function listBacklog(db: Db, limit: number): Promise<Backlog[]> {
  const { rows } = await sql<Backlog>`
    select job.kind, organization.slug as organization,
      count(*) filter (where status = 'queued' and next_attempt_at is null) as queued,
      count(*) filter (where status = 'queued' and next_attempt_at is not null) as waiting,
      count(*) filter (where status = 'running') as running,
      extract(epoch from now() - min(job.created_at))::int as "oldestSeconds"
    from job join organization on organization.id = job.organization_id
    where status in ('queued', 'running')
    group by job.kind, organization.slug
    order by count(*) desc, job.kind, organization.slug
    limit ${limit}
  `.execute(db);
  return rows;
}
