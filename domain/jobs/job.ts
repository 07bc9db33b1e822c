import { type Selectable, sql } from 'kysely';
import { ApiError } from '../../contract/api-error.ts';
import { anyOf, batchedRead } from '../../db/batched-read.ts';
import type { Db, Transaction } from '../../db/connect.ts';
import type { JobStatus, JobTable, WaitCause } from '../../db/schema.ts';
import { inWorkspace, readDocuments } from '../documents/document.ts';
import { findReadOnly } from '../platform/read-only.ts';

/** A job as the database holds it. */
export type JobRow = Selectable<JobTable>;

/** A job without its input and result, which may be large. */
export type JobHead = Omit<JobRow, 'input' | 'result'>;

/** The workspace of a job; null if it is gone. */
export const presentWorkspaceId = sql<string | null>`(select id from workspace where workspace.id = job.workspace_id)`;

/**
 * The columns of a {@link JobHead}, as readers get them: its user, workspace and document are null once they are deleted (docs/rules.md,
 * gone at once).
 */
export const headColumns = [
  'id',
  'organization_id',
  presentWorkspaceId.as('workspace_id'),
  sql<string | null>`coalesce(former_workspace_id, case when ${presentWorkspaceId} is null then workspace_id end)`.as(
    'former_workspace_id',
  ),
  sql<string | null>`(select id from document where document.id = job.document_id and ${inWorkspace})`.as('document_id'),
  'kind',
  'status',
  'retry_of',
  'replay_run',
  'stages',
  'input_bytes',
  'result_bytes',
  'error_code',
  'error_message',
  'attempts',
  'max_attempts',
  'claimed_by',
  'credits',
  'credit_month',
  // A user who is gone is not named any more; an API key is no person.
  sql<string | null>`case when starts_with(job.created_by, 'key_') then job.created_by
    else (select id from "user" where "user".id = job.created_by) end`.as('created_by'),
  'created_at',
  'started_at',
  'finished_at',
  'next_attempt_at',
  'updated_at',
  'swept_at',
  'waits_for',
  'waiting_since',
] as const;

/** The sizes of a job's input and result as JSON, in bytes. Rows from before sizes were kept are measured here. */
export const inputBytes = sql<number>`coalesce(input_bytes, octet_length(input::text))`;
export const resultBytes = sql<number>`coalesce(result_bytes, octet_length(result::text), 0)`;

/** Statuses that a job never leaves. */
const finalStatuses = ['succeeded', 'failed', 'canceled'] as const satisfies JobStatus[];

/** Whether a job is in a workspace, or was in it when the workspace was deleted. */
export function isOfWorkspace(job: Pick<JobRow, 'workspace_id' | 'former_workspace_id'>, workspaceId: string): boolean {
  return (job.workspace_id ?? job.former_workspace_id) === workspaceId;
}

/** Whether the document of a job is gone. */
export async function hasLostDocument(db: Db | Transaction, { kind, document_id: id }: JobHead): Promise<boolean> {
  return kind.startsWith('document.') && (id === null || (await readDocuments(db, [id])).length === 0);
}

/** Whether a job with this status has ended for good. */
export function isFinal(status: JobRow['status']): boolean {
  return (finalStatuses as readonly string[]).includes(status);
}

/** Why a job failed: a code for programs, and a sentence that the tenant may read. */
export interface JobError {
  code: string;
  message: string;
}

/** Contents up to this size are read with the job: a batch of a hundred jobs stays small. */
const smallBytes = 32 * 1024;

/** A job whose contents are null if they are large; see {@link readWhole}. */
type FoundJob = JobHead & { input: JobRow['input'] | null; result: JobRow['result']; content_bytes: number };

const contentBytes = sql<number>`${inputBytes} + ${resultBytes}`;
const isSmall = sql`${contentBytes} <= ${sql.lit(smallBytes)}`;

/** The job, or undefined. */
export const findJob = batchedRead(
  (db, ids): Promise<FoundJob[]> =>
    db
      .selectFrom('job')
      .select(headColumns)
      .select(contentBytes.as('content_bytes'))
      .select(sql<JobRow['input'] | null>`case when ${isSmall} then input end`.as('input'))
      .select(sql<JobRow['result']>`case when ${isSmall} then result end`.as('result'))
      .where('id', '=', anyOf(ids))
      .execute(),
  ({ id }) => id,
);

/** A changed job, with the user, workspace and document that {@link findJob} returned for it. */
export function shownAs(changed: JobRow, { workspace_id, document_id, created_by }: JobHead): JobRow {
  return { ...changed, workspace_id, document_id, created_by };
}

/** The job, whichever organization it belongs to: the caller authorizes by the row. Throws NOT_FOUND. */
export async function getJob(db: Db, jobId: string): Promise<FoundJob> {
  const job = await findJob(db, jobId);
  if (!job) throw jobNotFound();
  return job;
}

/** The job with its contents, however large they are. Throws NOT_FOUND if it is gone meanwhile. */
export async function readWhole(db: Db, { input, ...job }: FoundJob): Promise<JobRow> {
  if (input !== null) return { ...job, input };
  const whole = await db
    .selectFrom('job')
    .select([...headColumns, 'input', 'result'])
    .where('id', '=', job.id)
    .executeTakeFirst();
  if (!whole) throw jobNotFound();
  return whole;
}

function jobNotFound(): ApiError {
  return new ApiError('NOT_FOUND', { message: 'Job not found.' });
}

/** How a job has ended; `gone` if it has no row. */
export type EndedJob = { status: 'succeeded' | 'canceled' | 'gone' } | { status: 'failed'; error: JobError };

/**
 * The state of a job, for a caller that does not hold it. A queued job is due after `delayMs`, or as soon as what it waits for is there;
 * `running`: another attempt holds it.
 */
export type JobState = EndedJob | UnfinishedJob;
export type UnfinishedJob = { status: 'queued'; delayMs: number; waitsFor?: WaitCause } | { status: 'running' };

/** The shortest wait, if the next attempt is already due and another run is about to claim it. */
const shortestWaitMs = 1_000;
/** While the deployment is read-only no attempt begins. */
const readOnlyWaitMs = 30_000;

/** The state of a job; `gone` if it has no row. How long a queued one has to wait is decided by the database's clock. */
export async function jobStateOf(db: Db | Transaction, job: JobHead | undefined): Promise<JobState> {
  if (!job) return { status: 'gone' };
  if (job.status === 'failed') return { status: 'failed', error: { code: job.error_code ?? 'unknown', message: job.error_message ?? '' } };
  if (job.status !== 'queued') return { status: job.status };
  const minMs = (await findReadOnly(db)) === null ? shortestWaitMs : readOnlyWaitMs;
  const delayMs = Math.max(job.next_attempt_at ? await msUntil(db, job.next_attempt_at) : 0, minMs);
  return { status: 'queued', delayMs, ...(job.waits_for && job.waiting_since ? { waitsFor: job.waits_for } : {}) };
}

async function msUntil(db: Db | Transaction, time: Date): Promise<number> {
  const { rows } = await sql<{ ms: number }>`
    select (extract(epoch from ${time}::timestamptz - clock_timestamp()) * 1000)::float8 as ms
  `.execute(db);
  return Math.ceil(rows[0]?.ms ?? 0);
}
