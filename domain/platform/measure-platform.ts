import { sql } from 'kysely';
import type { Db } from '../../db/connect.ts';
import type { JobKind } from '../../db/schema.ts';
import { isLive } from '../billing/live-subscription.ts';

interface ResourceCounts {
  users: number;
  organizations: number;
  workspaces: number;
  /** Live subscriptions. */
  subscriptions: number;
}

/** Counts users, organizations, workspaces and live subscriptions. */
export async function countResources(db: Db): Promise<ResourceCounts> {
  const { rows } = await sql<ResourceCounts>`
    select
      (select count(*) from "user") as users,
      (select count(*) from organization) as organizations,
      (select count(*) from workspace) as workspaces,
      (select count(*) from subscription where ${isLive}) as subscriptions
  `.execute(db);
  return rows[0] ?? { users: 0, organizations: 0, workspaces: 0, subscriptions: 0 };
}

/** Jobs of the whole platform. `depth` counts the queued ones, including those that wait for their next attempt. */
interface QueueMeasure {
  depth: number;
  running: number;
  failed: number;
  oldestQueuedAt: Date | null;
}

/** Counts rows, which decide what is queued, not Temporal. Each count has a partial index. */
export async function measureQueue(db: Db): Promise<QueueMeasure> {
  const { rows } = await sql<QueueMeasure>`
    select
      (select count(*) from job where status = 'queued') as depth,
      (select min(created_at) from job where status = 'queued') as "oldestQueuedAt",
      (select count(*) from job where status = 'running') as running,
      (select count(*) from job where status = 'failed') as failed
  `.execute(db);
  return rows[0] ?? { depth: 0, running: 0, failed: 0, oldestQueuedAt: null };
}

/** The limit of counts, which are repeated all the time: counting a million takes a tenth of a second. */
const maxCounted = 1_000_000;

/** Other backlogs of the whole platform, each counted up to a million. An age is null if nothing waits. */
export interface Waiting {
  /** Intents that Temporal has not taken yet. */
  outbox: { size: number; oldestSeconds: number | null };
  /** Stored objects whose rows are gone. `refused`: the store refused to delete them at least once. */
  objectsToDelete: { size: number; refused: number; oldestSeconds: number | null };
  /**
   * Mails to be sent. `refused`: how many were refused by mail servers at least once. Mails that are refused for good, held or given up do
   * not count.
   */
  mails: { size: number; refused: number; oldestSeconds: number | null };
  /** Pending deliveries to webhook endpoints; since when the first one that is due and not held has been due; and endpoints that fail. */
  webhooks: { size: number; oldestSeconds: number | null; failingEndpoints: number };
  /** For how long the part of {@link listOutages} that is down for longest has been down. */
  outageSeconds: number | null;
  /** The age of the latest backup; null if there was none. */
  backupSeconds: number | null;
}

/** Measures the backlogs of the platform besides jobs. Counts at most `max` of each kind. */
export async function measureWaiting(db: Db, max = maxCounted): Promise<Waiting> {
  // A mail is tried for three days (workflows/send-mail.ts), and its row stays for thirty. Objects are counted from the newest one on,
  // since a vacuum may not have removed the index entries of millions of deleted older ones yet.
  const { rows } = await sql<Waiting>`
    select
      json_build_object(
        'size', (select count(*) from (select from outbox limit ${max})),
        'oldestSeconds', (select extract(epoch from now() - created_at)::int from outbox order by id limit 1)
      ) as outbox,
      json_build_object(
        'size', (select count(*) from (select from object_to_delete order by created_at desc limit ${max})),
        'refused', (select count(*) from (select from object_to_delete where attempts > 0 limit ${max})),
        'oldestSeconds', (select extract(epoch from now() - min(created_at))::int from object_to_delete)
      ) as "objectsToDelete",
      (
        select json_build_object('size', count(*), 'refused', count(*) filter (where attempts > 0),
          'oldestSeconds', extract(epoch from now() - min(created_at))::int)
        from mail where stopped_at is null and created_at > now() - interval '72 hours'
      ) as mails,
      json_build_object(
        'size', (select count(*) from (select from webhook_delivery where status = 'pending' limit ${max})),
        'oldestSeconds', (select extract(epoch from now() - min(coalesce(next_attempt_at, created_at)))::int from webhook_delivery
          where status = 'pending' and not held and coalesce(next_attempt_at, created_at) <= now()),
        'failingEndpoints', (select count(*) from webhook_endpoint where enabled and failing_since is not null)
      ) as webhooks,
      (select extract(epoch from now() - min(since))::int from provider_outage) as "outageSeconds",
      (select extract(epoch from now() - backed_up_at)::int from deployment) as "backupSeconds"
  `.execute(db);
  return rows[0] as Waiting;
}

/** Database sessions of any process that wait for another session's lock. An age is null if none waits. */
interface LockWaits {
  waiting: number;
  oldestSeconds: number | null;
}

/** Counts only sessions of the service's own database user, unless that user may read all statistics. */
export async function measureLockWaits(db: Db): Promise<LockWaits> {
  // Reads locks only if some session waits, because reading them briefly blocks all sessions that take a lock.
  const { rows } = await sql<LockWaits>`
    select count(*) as waiting, extract(epoch from clock_timestamp() - min(coalesce(since, query_start)))::float8 as "oldestSeconds"
    from pg_stat_activity as session
      left join lateral (select min(waitstart) as since from pg_locks where pg_locks.pid = session.pid and not granted) as wait on true
    where wait_event_type = 'Lock' and datname = current_database()
  `.execute(db);
  return rows[0] ?? { waiting: 0, oldestSeconds: null };
}

/** The due jobs of one kind: queued, and not waiting for their next attempt. */
interface KindQueue {
  kind: JobKind;
  queued: number;
  /** The time since the first of them was due. */
  oldestSeconds: number;
}

/** The queues that are not empty. Reads only queued jobs, by their partial index, at most the first million. */
export async function measureQueues(db: Db, max = maxCounted): Promise<KindQueue[]> {
  const { rows } = await sql<KindQueue>`
    select kind, count(*) as queued, extract(epoch from now() - min(coalesce(next_attempt_at, created_at)))::float8 as "oldestSeconds"
    from (
      select kind, created_at, next_attempt_at from job where status = 'queued' order by coalesce(swept_at, created_at) limit ${max}
    ) as job
    where next_attempt_at is null or next_attempt_at <= now()
    group by kind
  `.execute(db);
  return rows;
}
