import { type RawBuilder, sql } from 'kysely';
import type { Deletion, Storage } from '../../adapters/storage/port.ts';
import { signalJobCanceled } from '../../contract/intents/definitions.ts';
import type { Db, Transaction } from '../../db/connect.ts';
import { addToOutbox } from '../../db/outbox.ts';
import type { JobStatus } from '../../db/schema.ts';
import { inTransaction } from '../../db/transaction.ts';
import { drainDocuments } from '../documents/drain-documents.ts';
import { inSlices, type Position } from '../drain.ts';
import { failJob } from '../jobs/settle-attempt.ts';
import { lockOrganizationForDeletion, lockUnfinishedJobs } from '../locks.ts';
import { refusalText } from '../stored-objects/delete-object-batch.ts';
import { checkStoreOwner } from '../stored-objects/store-owner.ts';

const organizationDeleted = { code: 'organization_deleted', message: 'The organization was deleted.' };

const jobsPerSlice = 100;

interface SliceOptions {
  onProgress: (done: number) => void;
  signal: AbortSignal;
}

/**
 * Fails and refunds the unfinished jobs of an organization that is being deleted, a slice at a time, and signals their workflows. A running
 * attempt finds its job final and stores nothing.
 */
export async function endOrganizationJobs(db: Db, organizationId: string, { onProgress, signal }: SliceOptions): Promise<void> {
  let total = 0;
  for (let ended = -1; ended !== total; ) {
    ended = total;
    // A job may change its status meanwhile, so another round follows.
    for (const status of ['queued', 'running'] as const) {
      await inSlices(async (after) => {
        const page = await pageOfJobs(db, organizationId, { status, after, limit: jobsPerSlice });
        total += await inTransaction(db, (trx) => endJobs(trx, page));
        onProgress(total);
        return page.at(-1);
      }, signal);
    }
  }
}

async function endJobs(trx: Transaction, page: Position[]): Promise<number> {
  const jobs = await lockUnfinishedJobs(
    trx,
    page.map(({ id }) => id),
  );
  for (const job of jobs) {
    await failJob(trx, job, organizationDeleted);
    addToOutbox(trx, signalJobCanceled(job.id, job.organization_id));
  }
  return jobs.length;
}

interface JobPage {
  status?: JobStatus;
  after: Position | undefined;
  limit: number;
}

async function pageOfJobs(db: Db, organizationId: string, { status, after, limit }: JobPage): Promise<Position[]> {
  let page = db
    .selectFrom('job')
    .select(['id', 'created_at'])
    .where('organization_id', '=', organizationId)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit);
  if (status) page = page.where('status', '=', status);
  if (after) page = page.where(sql<boolean>`(created_at, id) < (${after.created_at}, ${after.id})`);
  return await page.execute();
}

export interface DeletedObjects {
  deleted: number;
  /** Objects that the store refused to delete. They are in `object_to_delete` and will be retried. */
  failed: number;
}

/** The maximum number of objects that a store deletes with one request. */
const objectsAtOnce = 1_000;

/**
 * Deletes every stored object of an organization, listed a page at a time (docs/rules.md, large things are bounded). The counts begin at
 * `before` and are reported after each batch, so that an attempt continues the counts of the one before it.
 */
export async function deleteOrganizationObjects(
  db: Db,
  storage: Storage,
  organizationId: string,
  { before, onProgress, signal }: { before: DeletedObjects; onProgress: (counts: DeletedObjects) => void; signal: AbortSignal },
): Promise<DeletedObjects> {
  await checkStoreOwner(db, storage);
  const counts = { ...before };
  let batch: string[] = [];
  for await (const { key } of storage.list(`${organizationId}/`)) {
    signal.throwIfAborted();
    batch.push(key);
    if (batch.length < objectsAtOnce) continue;
    await deleteBatch(batch);
    batch = [];
  }
  await deleteBatch(batch);
  return counts;

  async function deleteBatch(keys: string[]): Promise<void> {
    for await (const { deleted, refused } of storage.deleteMany(keys)) {
      if (refused.size > 0) await requestLaterDeletion(db, organizationId, refused);
      counts.deleted += deleted.length;
      counts.failed += refused.size;
      onProgress(counts);
      signal.throwIfAborted();
    }
  }
}

async function requestLaterDeletion(db: Db, organizationId: string, refused: Deletion['refused']): Promise<void> {
  const rows = [...refused].map(([key, error]) => ({
    key,
    organization_id: organizationId,
    attempts: 1,
    last_error: refusalText(error),
  }));
  await db
    .insertInto('object_to_delete')
    .values(rows)
    .onConflict((conflict) => conflict.column('key').doUpdateSet((eb) => ({ last_error: eb.ref('excluded.last_error') })))
    .execute();
}

const rowsPerSlice = 2_000;

/**
 * Deletes everything that an organization owns: large tables in slices, which hold locks only briefly, then the organization, whose
 * remaining rows go by cascade. Audit entries stay. Does nothing if the organization is gone. `db` is the pool for bulk work.
 */
export async function deleteOrganizationRows(db: Db, organizationId: string, { onProgress, signal }: SliceOptions): Promise<void> {
  let deleted = 0;
  const progress = (rows: number) => {
    deleted += rows;
    onProgress(deleted);
  };
  for (const workspaceId of await listAllWorkspaces(db, organizationId))
    await drainDocuments(db, workspaceId, { onProgress: progress, signal });
  await deleteJobs(db, organizationId, { onProgress: progress, signal });
  for (const table of ['credit_entry', 'provider_call'] as const)
    await deleteById(db, table, organizationId, { onProgress: progress, signal });
  for (const owned of [deliveriesOf(organizationId), storedResponsesOf(organizationId)])
    await deleteOwned(db, owned, { onProgress: progress, signal });
  await inTransaction(db, async (trx) => {
    await lockOrganizationForDeletion(trx, organizationId, 'delete');
    await trx.deleteFrom('subscription').where('referenceId', '=', organizationId).execute();
    await trx.updateTable('session').set({ activeOrganizationId: null }).where('activeOrganizationId', '=', organizationId).execute();
    await trx.deleteFrom('organization').where('id', '=', organizationId).execute();
  });
}

/** The workspaces of an organization, with those that are still being drained. */
async function listAllWorkspaces(db: Db, organizationId: string): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from workspace where organization_id = ${organizationId}
    union select workspace_id from workspace_deletion where organization_id = ${organizationId}
  `.execute(db);
  return rows.map(({ id }) => id);
}

/** Deletes the jobs and their ledger entries. */
async function deleteJobs(db: Db, organizationId: string, { onProgress, signal }: SliceOptions): Promise<void> {
  await inSlices(async (after) => {
    const page = await pageOfJobs(db, organizationId, { after, limit: rowsPerSlice });
    const isOne = sql<string>`any(${page.map(({ id }) => id)}::text[])`;
    await db.deleteFrom('credit_entry').where('job_id', '=', isOne).where('organization_id', '=', organizationId).execute();
    await db.deleteFrom('job').where('id', '=', isOne).execute();
    onProgress(page.length);
    return page.at(-1);
  }, signal);
}

/** How many ids are read at once. By then the ledger holds entries of searches and of jobs that are long gone. */
const idsPerRead = 50_000;

/** Deletes the other rows of a table whose index is not ordered by id within an organization, so ids are read for many slices at once. */
async function deleteById(
  db: Db,
  table: 'credit_entry' | 'provider_call',
  organizationId: string,
  { onProgress, signal }: SliceOptions,
): Promise<void> {
  for (;;) {
    const { rows } = await sql<{ id: string }>`
      select id::text from ${sql.table(table)} where organization_id = ${organizationId} limit ${idsPerRead}
    `.execute(db);
    if (rows.length === 0) return;
    for (let start = 0; start < rows.length; start += rowsPerSlice) {
      signal.throwIfAborted();
      const ids = rows.slice(start, start + rowsPerSlice).map(({ id }) => id);
      await sql`delete from ${sql.table(table)} where id = any(${ids}::bigint[])`.execute(db);
      onProgress(ids.length);
    }
  }
}

/** Rows of an organization in a table to which none are added any more. */
interface Owned {
  table: 'webhook_delivery' | 'idempotency_key';
  key: RawBuilder<unknown>[];
  isOwned: RawBuilder<boolean>;
}

/** An organization that is being deleted gets no events. */
function deliveriesOf(organizationId: string): Owned {
  return { table: 'webhook_delivery', key: [sql.ref('id')], isOwned: sql`organization_id = ${organizationId}` };
}

/** What stores a response has the organization's lock, and refuses one that is being deleted. */
function storedResponsesOf(organizationId: string): Owned {
  const isOwned = sql<boolean>`response ->> 'organizationId' = ${organizationId}`;
  return { table: 'idempotency_key', key: ['user_id', 'operation', 'key'].map((column) => sql.ref(column)), isOwned };
}

async function deleteOwned(db: Db, { table, key, isOwned }: Owned, { onProgress, signal }: SliceOptions): Promise<void> {
  for (let rows = rowsPerSlice; rows === rowsPerSlice; onProgress(rows)) {
    signal.throwIfAborted();
    const slice = sql`select ${sql.join(key)} from ${sql.table(table)} where ${isOwned} limit ${rowsPerSlice}`;
    const { numAffectedRows } = await sql`delete from ${sql.table(table)} where (${sql.join(key)}) in (${slice})`.execute(db);
    rows = Number(numAffectedRows);
  }
}
