import { sql } from 'kysely';
import { type Intent, type JobPriority, startJob } from '../../contract/intents/definitions.ts';
import { jobCredits } from '../../contract/jobs.ts';
import { addFact } from '../../db/add-fact.ts';
import type { Transaction } from '../../db/connect.ts';
import { addToOutbox } from '../../db/outbox.ts';
import type { JobKind } from '../../db/schema.ts';
import { type Actor, recordAudit } from '../audit.ts';
import type { GetPlan, Plan } from '../billing/plan.ts';
import type { Prices } from '../credits/budgets.ts';
import { chargeCredits } from '../credits/ledger.ts';
import { newId } from '../ids.ts';
import { lockOrganization } from '../locks.ts';
import { headColumns, type JobHead, type JobRow } from './job.ts';
import { type CreateJobInput, type JobScope, lockJobScope } from './job-scope.ts';

/**
 * Charges and queues a job; with `once`, returns the one that the document has already, if any. Throws as {@link lockJobScope}, and
 * LIMIT_REACHED if the credits are used up.
 */
export async function createJob(trx: Transaction, getPlan: GetPlan, actor: Actor, scope: JobScope, input: CreateJobInput): Promise<JobRow> {
  return (await findOrCreateJob(trx, getPlan, actor, scope, input)).job;
}

/** As {@link createJob}, and says whether the job is new. */
export async function findOrCreateJob(
  trx: Transaction,
  getPlan: GetPlan,
  actor: Actor,
  scope: JobScope,
  input: CreateJobInput,
): Promise<{ job: JobRow; isNew: boolean }> {
  await lockOrganization(trx, scope.organizationId);
  await lockJobScope(trx, scope);
  const there = 'once' in input && input.once ? await findJobOf(trx, scope.organizationId, input) : undefined;
  if (there) return { job: there, isNew: false };
  const plan = await getPlan(trx, scope.organizationId);
  const { kind, maxAttempts } = input;
  const job = await insertJob(trx, { ...scope, kind, maxAttempts, input: inputOf(input), createdBy: actor.userId }, plan, getPlan.prices);
  await recordAudit(trx, actor, {
    organizationId: scope.organizationId,
    action: 'job.create',
    targetId: job.id,
    metadata: { kind, credits: job.credits, documentId: scope.documentId },
  });
  return { job, isNew: true };
}

/** The newest job that does this for a document: queued, running, or succeeded if its product is still there and of the present content. */
async function findJobOf(
  trx: Transaction,
  organizationId: string,
  { kind, documentId }: { kind: JobKind; documentId: string },
): Promise<JobRow | undefined> {
  return await trx
    .selectFrom('job')
    .select([...headColumns, 'input', 'result'])
    .where('organization_id', '=', organizationId)
    .where('document_id', '=', documentId)
    .where('kind', 'in', [kind, 'document.process'])
    .where(sql<boolean>`(status in ('queued', 'running') or status = 'succeeded' and ${isOfPresentContent(kind)})`)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
}

const indexing: JobKind[] = ['document.index', 'document.process'];

/**
 * Whether the product of a job is still there and of the present content: the job began after the last replacement, or read the upload
 * whose object the document has now.
 */
const isOfPresentContent = (kind: JobKind) => sql`exists (
  select from document where document.id = job.document_id and ${isMade(kind)} and (
    job.started_at >= coalesce((select max(created_at) from document_version where document_id = document.id), '-infinity')
    or split_part(object_key, '/', 2) = job.input ->> 'documentId'
  )
)`;

/** A text may have been extracted again since it was indexed, in another charset or after its retention. */
const isMade = (kind: JobKind) => (indexing.includes(kind) ? sql`indexed_at >= extracted_at` : sql`extracted_at is not null`);

/** The fields that are specific to this kind of job, which the job shows again. */
export function inputOf(input: CreateJobInput): Record<string, unknown> {
  switch (input.kind) {
    case 'document.extract':
    case 'document.index':
      return { documentId: input.documentId };
    case 'document.summarize':
    case 'document.process':
      return { documentId: input.documentId, maxSentences: input.maxSentences };
    case 'text.summarize':
      return { text: input.text, maxSentences: input.maxSentences };
    case 'text.embed':
      return { texts: input.texts };
    case 'document.extractFields':
      return { documentId: input.documentId, schema: input.schema };
  }
}

interface NewJob {
  organizationId: string;
  workspaceId: string | null;
  documentId: string | null;
  kind: JobKind;
  input: Record<string, unknown>;
  stages?: JobRow['stages'];
  maxAttempts: number;
  createdBy: string | null;
  retryOf?: string;
  replayRun?: string | undefined;
}

/** Charges a job, queues it and asks for its workflow. Needs the organization's lock. Throws LIMIT_REACHED if there are too few credits. */
export async function insertJob(trx: Transaction, job: NewJob, plan: Plan | null, prices?: Prices): Promise<JobRow> {
  const id = newId();
  const credits = jobCredits[job.kind];
  const { organizationId } = job;
  const { workspaceId, createdBy: actorId } = job;
  const charge = { organizationId, key: `job:${id}:charge`, credits, jobId: id, reason: job.kind, workspaceId, actorId };
  const month = await chargeCredits(trx, charge, plan, prices);
  const row = await trx
    .insertInto('job')
    .values({
      id,
      organization_id: organizationId,
      workspace_id: job.workspaceId,
      document_id: job.documentId,
      kind: job.kind,
      input: JSON.stringify(job.input),
      stages: job.stages ? JSON.stringify(job.stages) : null,
      max_attempts: job.maxAttempts,
      credits,
      credit_month: month,
      created_by: job.createdBy,
      retry_of: job.retryOf ?? null,
      replay_run: job.replayRun ?? null,
    })
    .returningAll()
    .returning(isShort.as('is_short'))
    .executeTakeFirstOrThrow();
  const { is_short, ...created } = row;
  addFact(trx, { what: 'job created', kind: row.kind });
  addToOutbox(trx, startOf(created, { plan: plan?.plan, isShort: is_short }));
  return created;
}

/** A larger text takes seconds to read and to embed. */
const shortBytes = 64 * 1024;

/** Whether a job takes a second or so: its document is a small text, which needs no text recognition. */
const isShort = sql<boolean>`(job.document_id is null or exists (
  select from document where document.id = job.document_id and size_bytes <= ${sql.lit(shortBytes)}
    and content_type <> 'application/pdf' and content_type not like 'image/%'))`;

/** The columns of a job that the start of its workflow needs. */
export type StartedJob = Pick<JobHead, 'id' | 'kind' | 'max_attempts' | 'organization_id' | 'workspace_id' | 'document_id'>;

/** The intent to start a job's workflow, with what decides its priority among waiting jobs. */
export function startOf(job: StartedJob, priority?: JobPriority): Intent {
  const ids = { organizationId: job.organization_id, workspaceId: job.workspace_id, documentId: job.document_id };
  return startJob({ jobId: job.id, kind: job.kind, maxAttempts: job.max_attempts, ...ids }, priority);
}
