import { sql } from 'kysely';
import { workflowIds } from '../../contract/intents/definitions.ts';
import type { Db } from '../../db/connect.ts';
import { isPresumedLost } from '../jobs/sweep-jobs.ts';

/** The unfinished jobs of one kind and organization. `waiting` counts those that wait for their next attempt. */
export interface Backlog {
  kind: string;
  organization: string;
  queued: number;
  waiting: number;
  running: number;
  oldestSeconds: number;
}

/** The unfinished jobs by kind and organization, the largest group first. */
export async function listBacklog(db: Db, limit: number): Promise<Backlog[]> {
  const { rows } = await sql<Backlog>`
    select kind, (select slug from organization where id = organization_id) as organization, queued, waiting, running,
      extract(epoch from now() - oldest)::int as "oldestSeconds"
    from (
      select kind, organization_id, count(*) as jobs,
        count(*) filter (where status = 'queued' and next_attempt_at is null) as queued,
        count(*) filter (where status = 'queued' and next_attempt_at is not null) as waiting,
        count(*) filter (where status = 'running') as running,
        min(created_at) as oldest
      from (
        -- Each of the two has an index; both together have none.
        select kind, organization_id, status, next_attempt_at, created_at from job where status = 'queued'
        union all
        select kind, organization_id, status, next_attempt_at, created_at from job where status = 'running'
      ) as job
      group by kind, organization_id
      order by jobs desc, kind, organization_id limit ${limit}
    ) as groups
    order by jobs desc, kind, organization
  `.execute(db);
  return rows;
}

/** Something that has made no progress for too long, with the most likely reason. */
export interface Stuck {
  what: string;
  id: string;
  organization: string | null;
  ageSeconds: number;
  reason: string;
}

/**
 * Everything whose row shows that it waits for longer than its rules allow: attempts beyond twice the timeout, queued jobs of a kind that no
 * worker takes, intents that Temporal has not taken, objects that the store refuses to delete, deletions that do not end. Oldest first. A
 * backlog with recent progress is not stuck, however old its last item is.
 */
export async function listStuck(db: Db, { jobTimeoutMs, limit }: { jobTimeoutMs: number; limit: number }): Promise<Stuck[]> {
  const sorts = [lostAttempts(jobTimeoutMs, limit), queuedJobs(limit), intents(limit), objects(limit), deletions, stoppedSweep];
  const { rows } = await sql<Stuck>`
    select what, id, organization, extract(epoch from now() - since)::int as "ageSeconds", reason
    from (${sql.join(sorts, sql` union all `)}) as stuck (what, id, organization, since, reason)
    order by "ageSeconds" desc limit ${limit}
  `.execute(db);
  return rows;
}

const lostAttempts = (jobTimeoutMs: number, limit: number) => sql`(
  select 'running job', id, organization_id, started_at,
    'attempt ' || attempts || ' began more than twice the timeout ago; the sweep has not taken it back: is a worker running?'
  from job where ${isPresumedLost(jobTimeoutMs)}
  order by started_at limit ${limit}
)`;

const queuedJobs = (limit: number) => sql`
  select 'queued job', id, organization_id, since,
    case
      when exists (select from deployment where read_only is not null) then 'the deployment is read-only; see npm run ops -- status'
      when exists (select from outbox where workflow_id = ${workflowIds.runJob('')} || id) then 'Temporal has not taken its workflow yet'
      when swept_at is null then 'no sweep has seen it: is a worker running?'
      else 'no worker has taken it: is one running that has a handler for ' || kind || '?'
    end
  from (
    select id, organization_id, kind, swept_at, greatest(created_at, next_attempt_at) as since from job
    where status = 'queued' and greatest(created_at, next_attempt_at) < now() - interval '5 minutes'
      and kind not in (select kind from job where status = 'running' and updated_at > now() - interval '5 minutes')
      and kind not in (select kind from job where finished_at > now() - interval '5 minutes' and started_at is not null)
    order by greatest(created_at, next_attempt_at) limit ${limit}
  ) as job`;

/** A working relay holds leases of 15 seconds. */
const intents = (limit: number) => sql`
  select 'intent', workflow_id, null, created_at,
    coalesce('not dispatched after ' || attempts || ' attempts: ' || last_error, 'not dispatched: does an API or worker run?')
  from (select * from outbox order by id limit ${limit}) as waiting
  where created_at < now() - interval '1 minute'
    and (attempts > 0 or not exists (select from outbox where attempts = 0 and lease_until between now() and now() + interval '20 seconds'))`;

const objects = (limit: number) => sql`(
  select 'object', key, organization_id, created_at,
    case when attempts > 0 then 'the store refuses to delete it: ' || last_error else 'not tried yet: is a worker running?' end
  from object_to_delete where created_at < case when attempts > 0 then now() - interval '5 minutes' else now() - interval '1 hour' end
  order by created_at limit ${limit}
)`;

const deletions = sql`
  select 'organization deletion', organization_id, organization_id, created_at,
    'see workflow ' || ${workflowIds.deleteOrganization('')} || organization_id
  from organization_deletion where created_at < now() - interval '1 hour'
  union all
  select 'workspace deletion', workspace_id, organization_id, created_at,
    'see workflow ' || ${workflowIds.deleteWorkspace('')} || workspace_id
  from workspace_deletion where created_at < now() - interval '1 hour'`;

const stoppedSweep = sql`
  select 'orphan sweep', found || ' objects', null, stopped_at,
    found || ' of ' || checked || ' stored objects have no document; see npm run ops -- orphans'
  from orphan_sweep_stop where allowed = 0`;
