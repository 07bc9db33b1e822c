import { sql } from 'kysely';
import type { Db } from '../../db/connect.ts';
import type { JobKind } from '../../db/schema.ts';
import { isLive } from '../billing/live-subscription.ts';

export interface ResourceCounts {
  users: number;
  organizations: number;
  workspaces: number;
  /** Only the live ones. */
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
export interface QueueMeasure {
  depth: number;
  running: number;
  failed: number;
  oldestQueuedAt: Date | null;
}

/** Counts rows, since the rows decide. Each count has a partial index. */
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

/** Counts of what waits end here: it is counted again and again, and takes a tenth of a second for a million. */
const mostCounted = 1_000_000;

/** What else waits on the whole platform, each counted up to a million. An age is null if nothing waits. */
export interface Waiting {
  /** Intents that Temporal has not taken yet. */
  outbox: { size: number; oldestSeconds: number | null };
  /** Stored objects whose rows are gone. `refused`: the store refused to delete them at least once. */
  objectsToDelete: { size: number; refused: number; oldestSeconds: number | null };
  /** Mails that are to be sent. `refused`: no mail server took them at least once. Not those that are refused for good, held, or given up. */
  mails: { size: number; refused: number; oldestSeconds: number | null };
}

interface WaitingRow {
  intents: number;
  intentAge: number | null;
  objects: number;
  refused: number;
  objectAge: number | null;
  mails: number;
  mailsRefused: number;
  mailAge: number | null;
}

/** Measures what waits on the platform besides jobs. Counts at most `most` of each sort. */
export async function measureWaiting(db: Db, most = mostCounted): Promise<Waiting> {
  // A mail is tried for three days (workflows/send-mail.ts), and its row stays for thirty. Objects are counted from the newest one on: where
  // millions of older ones were deleted, no vacuum may have come yet.
  const { rows } = await sql<WaitingRow>`
    select
      (select count(*) from (select from outbox limit ${most})) as intents,
      (select extract(epoch from now() - created_at)::int from outbox order by id limit 1) as "intentAge",
      (select count(*) from (select from object_to_delete order by created_at desc limit ${most})) as objects,
      (select count(*) from (select from object_to_delete where attempts > 0 limit ${most})) as refused,
      (select extract(epoch from now() - min(created_at))::int from object_to_delete) as "objectAge",
      mail.*
    from (
      select count(*) as mails, count(*) filter (where attempts > 0) as "mailsRefused",
        extract(epoch from now() - min(created_at))::int as "mailAge"
      from mail where stopped_at is null and created_at > now() - interval '72 hours'
    ) as mail
  `.execute(db);
  const { intents = 0, intentAge = null, objects = 0, refused = 0, objectAge = null } = rows[0] ?? {};
  const { mails = 0, mailsRefused = 0, mailAge = null } = rows[0] ?? {};
  return {
    outbox: { size: intents, oldestSeconds: intentAge },
    objectsToDelete: { size: objects, refused, oldestSeconds: objectAge },
    mails: { size: mails, refused: mailsRefused, oldestSeconds: mailAge },
  };
}

/** Sessions of the database that wait for a lock that another one holds, of whichever process. An age is null if none waits. */
export interface LockWaits {
  waiting: number;
  oldestSeconds: number | null;
}

/** Sees sessions of the service's own user only, unless that may read all statistics. */
export async function measureLockWaits(db: Db): Promise<LockWaits> {
  // Locks are read only if some session waits: that holds up all who take one, for a moment.
  const { rows } = await sql<LockWaits>`
    select count(*) as waiting, extract(epoch from clock_timestamp() - min(coalesce(since, query_start)))::float8 as "oldestSeconds"
    from pg_stat_activity as session
      left join lateral (select min(waitstart) as since from pg_locks where pg_locks.pid = session.pid and not granted) as wait on true
    where wait_event_type = 'Lock' and datname = current_database()
  `.execute(db);
  return rows[0] ?? { waiting: 0, oldestSeconds: null };
}

/** The due jobs of one kind: queued, and not waiting for their next attempt. */
export interface KindQueue {
  kind: JobKind;
  queued: number;
  /** For how long the first of them has been due. */
  oldestSeconds: number;
}

/** The queues that are not empty. Reads queued jobs only, by their partial index, and only the first million. */
export async function measureQueues(db: Db, most = mostCounted): Promise<KindQueue[]> {
  const { rows } = await sql<KindQueue>`
    select kind, count(*) as queued, extract(epoch from now() - min(coalesce(next_attempt_at, created_at)))::float8 as "oldestSeconds"
    from (
      select kind, created_at, next_attempt_at from job where status = 'queued' order by coalesce(swept_at, created_at) limit ${most}
    ) as job
    where next_attempt_at is null or next_attempt_at <= now()
    group by kind
  `.execute(db);
  return rows;
}
