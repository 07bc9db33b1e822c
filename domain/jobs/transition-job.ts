import { sql } from 'kysely';
import { addFact } from '../../db/add-fact.ts';
import type { Db, Transaction } from '../../db/connect.ts';
import type { JobOutcome } from '../../db/facts.ts';
import type { JobStatus, OutagePart } from '../../db/schema.ts';
import { isWorkspaceThere } from '../workspaces/workspace.ts';
import { hasLostDocument, type JobError, type JobRow } from './job.ts';

interface TransitionBase {
  jobId: string;
  from: JobStatus;
  /** The transition happens only if this attempt is the current one (docs/rules.md, fencing). */
  attempts?: number;
}

type Transition = TransitionBase &
  (
    | { to: 'succeeded'; result: Record<string, unknown> }
    | { to: 'failed'; error: JobError }
    | { to: 'canceled' }
    /**
     * `uncounted`: the attempt does not count, and the next one gets its number. `waitsFor`: what was down; an uncounted attempt does not
     * end the job's wait for it.
     */
    | { to: 'queued'; error: JobError; delayMs: number; uncounted?: boolean; waitsFor?: OutagePart | undefined }
  );

const workspaceIsThere = sql<boolean>`(workspace_id is null or exists (select from workspace where workspace.id = job.workspace_id))`;

/** Changes the status of a job if it is still `from` (docs/rules.md, states change by condition); undefined if it is not. */
export async function transitionJob(trx: Db | Transaction, transition: Transition): Promise<JobRow | undefined> {
  const final = transition.to !== 'queued';
  const error = 'error' in transition ? transition.error : undefined;
  let query = trx
    .updateTable('job')
    .set({
      status: transition.to,
      claimed_by: null,
      updated_at: sql`clock_timestamp()`,
      ...(final ? { finished_at: sql`clock_timestamp()`, next_attempt_at: null } : {}),
      ...(transition.to === 'succeeded' ? { result: JSON.stringify(transition.result), error_code: null, error_message: null } : {}),
      ...(error ? { error_code: error.code, error_message: error.message } : {}),
      ...(transition.to === 'queued'
        ? { next_attempt_at: sql`clock_timestamp() + make_interval(secs => ${transition.delayMs / 1_000})` }
        : {}),
      ...(transition.to === 'queued' ? waitOf(transition) : {}),
    })
    .where('id', '=', transition.jobId)
    .where('status', '=', transition.from);
  // Nothing succeeds in a workspace that is gone; the drain ends its jobs.
  if (transition.to === 'succeeded') query = query.where(workspaceIsThere);
  if (transition.attempts !== undefined) query = query.where('attempts', '=', transition.attempts);
  const job = await query.returningAll().executeTakeFirst();
  if (job) {
    addFact(trx, {
      what: 'job changed',
      kind: job.kind,
      outcome: await outcomeOf(trx, transition.to, job),
      seconds: transition.from === 'running' ? attemptSeconds(job) : undefined,
    });
  }
  return job;
}

function waitOf({ uncounted, waitsFor = null }: { uncounted?: boolean; waitsFor?: OutagePart | undefined | null }) {
  if (!uncounted) return { waits_for: waitsFor, waiting_since: null };
  const attempts = sql<number>`attempts - 1`;
  return waitsFor === null
    ? { attempts, waits_for: null, waiting_since: null }
    : { attempts, waits_for: waitsFor, waiting_since: sql<Date>`coalesce(waiting_since, clock_timestamp())` };
}

async function outcomeOf(trx: Db | Transaction, to: Transition['to'], job: JobRow): Promise<JobOutcome> {
  if (to === 'queued') return 'retried';
  if (to !== 'failed') return to;
  const isThere = job.workspace_id === null || (await isWorkspaceThere(trx, job.workspace_id));
  return isThere && !(await hasLostDocument(trx, job)) ? 'failed' : 'obsolete';
}

/** The duration of the attempt that this change ended. */
function attemptSeconds({ started_at, updated_at }: JobRow): number | undefined {
  return started_at ? Math.max(0, updated_at.getTime() - started_at.getTime()) / 1_000 : undefined;
}
