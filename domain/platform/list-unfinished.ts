import { sql } from 'kysely';
import { workflowIds } from '../../contract/intents/definitions.ts';
import type { Db } from '../../db/connect.ts';

/** Work that should make progress, and the workflow that does it. */
export interface Unfinished {
  what: string;
  id: string;
  organization: string | null;
  /** For how long it has made no progress that its row shows. */
  ageSeconds: number;
  workflowId: string;
}

/** Jobs and deletions that have shown no progress for two minutes, the oldest of each sort first, at most `limit` of each. */
export async function listUnfinished(db: Db, limit: number): Promise<Unfinished[]> {
  const { rows } = await sql<Unfinished>`
    select what, id, organization, extract(epoch from now() - since)::int as "ageSeconds", prefix || id as "workflowId" from (
      (select 'queued job', id, organization_id, greatest(created_at, next_attempt_at), ${workflowIds.runJob('')} from job
        where status = 'queued' and greatest(created_at, next_attempt_at) < now() - interval '2 minutes'
        order by greatest(created_at, next_attempt_at) limit ${limit})
      union all
      (select 'running job', id, organization_id, updated_at, ${workflowIds.runJob('')} from job
        where status = 'running' and updated_at < now() - interval '2 minutes' order by updated_at limit ${limit})
      union all
      (select 'organization deletion', organization_id, organization_id, created_at, ${workflowIds.deleteOrganization('')}
        from organization_deletion where created_at < now() - interval '2 minutes' order by created_at limit ${limit})
      union all
      (select 'workspace deletion', workspace_id, organization_id, created_at, ${workflowIds.deleteWorkspace('')}
        from workspace_deletion where created_at < now() - interval '2 minutes' order by created_at limit ${limit})
    ) as unfinished (what, id, organization, since, prefix)
  `.execute(db);
  return rows;
}
