import { type RawBuilder, sql } from 'kysely';
import { addFact } from '../../db/add-fact.ts';
import type { Db, Transaction } from '../../db/connect.ts';
import type { OutagePart } from '../../db/schema.ts';
import { inTransaction } from '../../db/transaction.ts';
import { lockJob } from '../locks.ts';
import { findSuspension, isSuspended } from '../organizations/suspension.ts';
import { admit, interval } from '../outages/admit.ts';
import type { OutageTimes } from '../outages/outage.ts';
import { findReadOnly } from '../platform/read-only.ts';
import { findJob, hasLostDocument, type JobHead, type JobRow } from './job.ts';
import { failJob } from './settle-attempt.ts';

/**
 * The claimed job, and what its attempt probes; or, if it could not be claimed, its present state, undefined if the row is gone. `waits`:
 * for the end of an outage, of a suspension or of the read-only mode.
 */
export type Claim = { claimed: true; job: JobRow; probes: OutagePart[] } | { claimed: false; job: JobHead | undefined; waits?: boolean };

/** Temporal's timers are not exact. A run that was started or reset by hand comes early. */
const isDue = sql<boolean>`coalesce(next_attempt_at <= clock_timestamp() + interval '100 milliseconds', true)`;
const isFree = sql<boolean>`not exists (select from provider_outage) and not ${isSuspended}
  and not exists (select from deployment where read_only is not null)`;
/** Since when the job waits for what is down: a suspension does not count. */
const awaySince = sql<Date | null>`case when waits_for <> 'suspension' then waiting_since end`;
/** A suspension is looked at again after this many hours, if nothing wakes the job before. */
const suspendedHours = 24;

/**
 * Claims a queued job that is due for one attempt. `claimedBy` names the attempt ({@link nameAttempt}), so that the holder of the job is
 * known later; `attempts` of the row becomes its fencing token (docs/rules.md, fencing). While something that the job needs is down, it
 * waits, or fails if it has waited for too long (docs/outages.md). While its organization is suspended, or the deployment is read-only,
 * it waits.
 */
export async function claimJob(db: Db, jobId: string, claimedBy: string, times: OutageTimes): Promise<Claim> {
  const job = await claim(db, jobId, claimedBy, isFree);
  if (job) return { claimed: true, job, probes: [] };
  const found = await findJob(db, jobId);
  if (found?.status !== 'queued') return { claimed: false, job: found };
  return await inTransaction(db, (trx) => claimOrWait(trx, jobId, claimedBy, times));
}

async function claimOrWait(trx: Transaction, jobId: string, claimedBy: string, times: OutageTimes): Promise<Claim> {
  const head = await lockJob(trx, jobId);
  const due = trx.selectFrom('job').select('id').where('id', '=', jobId).where('status', '=', 'queued').where(isDue);
  // A job that is not due waits on in its workflow, where the end of the outage wakes it.
  if (!head || !(await due.executeTakeFirst()))
    return { claimed: false, job: head, waits: head?.status === 'queued' && head.waiting_since !== null };
  if (await findReadOnly(trx)) return { claimed: false, job: head, waits: true };
  if (await findSuspension(trx, head.organization_id)) return { claimed: false, job: await waitForLift(trx, jobId), waits: true };
  const admission = await admit(trx, head, times);
  // Without its document a job needs nothing any more: its attempt fails it.
  if ('waitsFor' in admission && !(await hasLostDocument(trx, head))) return await wait(trx, head, admission, times);
  const job = await claim(trx, jobId, claimedBy, sql<boolean>`true`);
  return job ? { claimed: true, job, probes: 'probes' in admission ? admission.probes : [] } : { claimed: false, job: head };
}

const awayForTooLong = { code: 'provider_unavailable', message: 'What the job needs was not available for too long.' };

/** Postpones the job of a suspended organization, however long the suspension lasts. */
async function waitForLift(trx: Transaction, jobId: string): Promise<JobHead | undefined> {
  const next = sql<Date>`clock_timestamp() + make_interval(hours => ${sql.lit(suspendedHours)})`;
  const set = {
    ...{ waits_for: 'suspension' as const, waiting_since: sql<Date>`clock_timestamp()` },
    ...{ next_attempt_at: next, updated_at: sql<Date>`clock_timestamp()` },
  };
  return await trx.updateTable('job').set(set).where('id', '=', jobId).returningAll().executeTakeFirst();
}

async function wait(
  trx: Transaction,
  head: JobHead,
  { waitsFor, until }: { waitsFor: OutagePart; until: Date },
  { longestWaitMs }: OutageTimes,
): Promise<Claim> {
  const since = sql<Date>`coalesce(${awaySince}, clock_timestamp())`;
  const end = sql<Date>`${since} + ${interval(longestWaitMs)}`;
  const job = await trx
    .updateTable('job')
    .set({
      waits_for: waitsFor,
      waiting_since: since,
      next_attempt_at: sql`least(${until}::timestamptz, ${end})`,
      updated_at: sql`clock_timestamp()`,
    })
    .where('id', '=', head.id)
    .where(sql<boolean>`${end} > clock_timestamp()`)
    .returningAll()
    .executeTakeFirst();
  if (job) return { claimed: false, job, waits: true };
  await failJob(trx, head, awayForTooLong);
  return { claimed: false, job: await lockJob(trx, head.id) };
}

async function claim(db: Db | Transaction, jobId: string, claimedBy: string, condition: RawBuilder<boolean>): Promise<JobRow | undefined> {
  const job = await db
    .updateTable('job')
    .set({
      status: 'running',
      attempts: sql`attempts + 1`,
      claimed_by: claimedBy,
      started_at: sql`clock_timestamp()`,
      next_attempt_at: null,
      waits_for: sql`nullif(waits_for, 'suspension')`,
      waiting_since: awaySince,
      updated_at: sql`clock_timestamp()`,
    })
    .where('id', '=', jobId)
    .where('status', '=', 'queued')
    .where(isDue)
    .where(condition)
    .returningAll()
    .executeTakeFirst();
  if (job) addFact(db, { what: 'attempt begun', kind: job.kind });
  return job;
}

/** Whether the attempt that claimed the job is still the current one. */
export async function stillHolds(db: Db, job: Pick<JobRow, 'id' | 'attempts'>): Promise<boolean> {
  const current = await db
    .selectFrom('job')
    .select('id')
    .where('id', '=', job.id)
    .where('status', '=', 'running')
    .where('attempts', '=', job.attempts)
    .executeTakeFirst();
  return current !== undefined;
}
