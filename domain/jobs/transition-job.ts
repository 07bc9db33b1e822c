import { sql } from 'kysely';
import { addFact } from '../../db/add-fact.ts';
import type { Db, Transaction } from '../../db/connect.ts';
import type { JobOutcome } from '../../db/facts.ts';
import type { JobStatus, OutagePart } from '../../db/schema.ts';
import { readDocuments } from '../documents/document.ts';
import type { JobError, JobRow } from './job.ts';

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
  return (await isOfWhatIsThere(trx, job)) ? 'failed' : 'obsolete';
}

/** Whether the workspace and the document of a job still exist. */
async function isOfWhatIsThere(trx: Db | Transaction, { kind, document_id, workspace_id }: JobRow): Promise<boolean> {
  if (kind.startsWith('document.')) return document_id !== null && (await readDocuments(trx, [document_id])).length > 0;
  if (workspace_id === null) return true;
  return (await trx.selectFrom('workspace').select('id').where('id', '=', workspace_id).executeTakeFirst()) !== undefined;
}

/** The duration of the attempt that this change ended. */
function attemptSeconds({ started_at, updated_at }: JobRow): number | undefined {
  return started_at ? Math.max(0, updated_at.getTime() - started_at.getTime()) / 1_000 : undefined;
}
