import { sql } from 'kysely';
import { ApiError } from '../contract/api-error.ts';
import type { Transaction } from '../db/connect.ts';
import type { SubscriptionRow } from './billing/find-subscription.ts';
import { isLive } from './billing/live-subscription.ts';
import { DocumentGone, type DocumentRow, inWorkspace } from './documents/document.ts';
import { type FlagRow, flagNotFound } from './flags/flag.ts';
import { headColumns, type JobHead } from './jobs/job.ts';
import type { IndexKind } from './search/index-kind.ts';
import type { WorkspaceRow } from './workspaces/workspace.ts';

/**
 * Every row lock of the domain, in the order of docs/rules.md, which the triggers in `db/triggers/` follow, too: user, organization,
 * subscription, team, workspace, index of a workspace, document, job, outage, counters (credits of a month, bytes of a workspace, audit
 * entries of an organization), flag. A transaction never takes an earlier lock afterwards. Batches that several processes may work on skip
 * locked rows.
 */

/** `share`: nobody may delete the row; others may share or change it. `change`: others may only share it. `delete`: others may do neither. */
type LockPurpose = 'share' | 'change' | 'delete';

const strengths = {
  share: sql`for key share`,
  change: sql`for no key update`,
  delete: sql`for update`,
};

/**
 * Takes the organization's lock, under which every limit is checked and used (docs/rules.md, lock order). Throws NOT_FOUND if the
 * organization is gone, or is being deleted and takes no more writes.
 */
export async function lockOrganization(trx: Transaction, organizationId: string): Promise<void> {
  const { rows } = await sql<{ deleting: boolean | null }>`select lock_organization(${organizationId}) as deleting`.execute(trx);
  const deleting = rows[0]?.deleting ?? null;
  if (deleting === null) throw new ApiError('NOT_FOUND', { message: 'Organization not found.' });
  if (deleting) throw new ApiError('NOT_FOUND', { message: 'This organization is being deleted.' });
}

/**
 * The same lock for the request of a deletion, which may be repeated while the deletion runs, and for its steps; undefined if the
 * organization is gone. A request only marks the row. No reference depends on that, so `change` is enough.
 */
export async function lockOrganizationForDeletion(
  trx: Transaction,
  organizationId: string,
  purpose: 'change' | 'delete' = 'change',
): Promise<{ name: string; slug: string } | undefined> {
  const { rows } = await sql<{ name: string; slug: string }>`
    select name, slug from organization where id = ${organizationId} ${strengths[purpose]}
  `.execute(trx);
  return rows[0];
}

/** The same lock, found by the organization's customer at the payment provider, whose changes it guards; undefined without one. */
export async function lockOrganizationOfCustomer(trx: Transaction, stripeCustomerId: string): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`
    select id from organization where "stripeCustomerId" = ${stripeCustomerId} order by id limit 1 ${strengths.change}
  `.execute(trx);
  return rows[0]?.id;
}

/** Locks the live subscriptions of an organization, after it, in the order of their ids. */
export async function lockLiveSubscriptions(trx: Transaction, organizationId: string): Promise<SubscriptionRow[]> {
  return await trx
    .selectFrom('subscription')
    .selectAll()
    .where('referenceId', '=', organizationId)
    .where(isLive)
    .orderBy('id')
    .forNoKeyUpdate()
    .execute();
}

/** Locks the row of a subscription at the payment provider, after the organization; undefined if there is none. */
export async function lockStoredSubscription(trx: Transaction, stripeSubscriptionId: string): Promise<SubscriptionRow | undefined> {
  return await trx
    .selectFrom('subscription')
    .selectAll()
    .where('stripeSubscriptionId', '=', stripeSubscriptionId)
    .forNoKeyUpdate()
    .executeTakeFirst();
}

/** Keeps a team from being deleted. Throws NOT_FOUND unless it belongs to the organization. */
export async function keepTeam(trx: Transaction, organizationId: string, teamId: string): Promise<void> {
  const { rows } = await sql`
    select from team where id = ${teamId} and "organizationId" = ${organizationId} ${strengths.share}
  `.execute(trx);
  if (!rows[0]) throw new ApiError('NOT_FOUND', { message: 'The team is not one of this organization.' });
}

/** Locks a workspace, after its organization if that is locked at all; undefined if it is gone. */
export async function lockWorkspace(trx: Transaction, workspaceId: string, purpose: LockPurpose): Promise<WorkspaceRow | undefined> {
  const { rows } = await sql<WorkspaceRow>`select * from workspace where id = ${workspaceId} ${strengths[purpose]}`.execute(trx);
  return rows[0];
}

/** Locks the workspaces of an organization, or one of them, after it, in the order of their ids. Returns how many there are. */
export async function lockWorkspaces(trx: Transaction, organizationId: string, workspaceId?: string): Promise<number> {
  const ofOne = workspaceId === undefined ? sql`true` : sql`id = ${workspaceId}`;
  const { rows } = await sql`
    select from workspace where organization_id = ${organizationId} and ${ofOne} order by id ${strengths.change}
  `.execute(trx);
  return rows.length;
}

/** Locks the index that a workspace is searched with, after the workspace; undefined without one. `delete` prevents storing of chunks. */
export async function lockWorkspaceIndex(
  trx: Transaction,
  workspaceId: string,
  purpose: 'share' | 'delete',
): Promise<IndexKind | undefined> {
  const { rows } = await sql<IndexKind>`
    select model, dimensions, chunking from workspace_index where workspace_id = ${workspaceId} ${strengths[purpose]}
  `.execute(trx);
  return rows[0];
}

/** Locks a document, after its workspace; undefined if it is gone, or its workspace is. */
export async function lockDocument(trx: Transaction, documentId: string, purpose: 'share' | 'change'): Promise<DocumentRow | undefined> {
  const { rows } = await sql<DocumentRow>`
    select * from document where id = ${documentId} and ${inWorkspace} ${strengths[purpose]}
  `.execute(trx);
  return rows[0];
}

/** Keeps workspaces, and then documents, from being deleted, each in the order of their ids. Those that are gone are left out. */
export async function lockWorkspacesAndDocuments(
  trx: Transaction,
  { workspaceIds, documentIds }: { workspaceIds: string[]; documentIds: string[] },
): Promise<void> {
  await sql`select from workspace where id = any(${workspaceIds}) order by id ${strengths.share}`.execute(trx);
  await sql`select from document where id = any(${documentIds}) order by id ${strengths.share}`.execute(trx);
}

/** Locks documents that are deleted, in the order of their ids: their chunks and texts are deleted before them. */
export async function lockDocumentsForDeletion(trx: Transaction, documentIds: string[]): Promise<void> {
  await sql`select from document where id = any(${documentIds}) order by id ${strengths.delete}`.execute(trx);
}

/** Locks the documents of a workspace whose new chunks are staged, in the order of their ids, after the index of the workspace. */
export async function lockStagedDocuments(trx: Transaction, workspaceId: string): Promise<void> {
  await sql`
    with locked as materialized (
      select from document where id in (select document_id from staged_index where workspace_id = ${workspaceId}) order by id ${strengths.change}
    )
    select count(*) from locked
  `.execute(trx);
}

/** Locks a document for the effects of a job, and its workspace, which chunks refer to. Throws {@link DocumentGone} if it was deleted. */
export async function lockForEffects(
  trx: Transaction,
  { id, workspace_id }: Pick<DocumentRow, 'id' | 'workspace_id'>,
): Promise<DocumentRow> {
  await lockWorkspace(trx, workspace_id, 'share');
  const document = await lockDocument(trx, id, 'change');
  if (!document) throw new DocumentGone();
  return document;
}

/** The columns of a job without its contents, which may be large, as the table has them: a lock needs no other table. */
const jobHead = sql.join(headColumns.map((column) => sql.ref(typeof column === 'string' ? column : String(column.alias))));

/** Locks a job, after its document; undefined if it is gone. */
export async function lockJob(trx: Transaction, jobId: string): Promise<JobHead | undefined> {
  const { rows } = await sql<JobHead>`select ${jobHead} from job where id = ${jobId} ${strengths.change}`.execute(trx);
  return rows[0];
}

/** Locks the unfinished ones of these jobs, in the order of their ids. */
export async function lockUnfinishedJobs(trx: Transaction, jobIds: string[]): Promise<JobHead[]> {
  const { rows } = await sql<JobHead>`
    select ${jobHead} from job where id = any(${jobIds}) and status in ('queued', 'running') order by id ${strengths.change}
  `.execute(trx);
  return rows;
}

/** Locks the user with this address, alone or before everything else; undefined if there is none. */
export async function lockUser(trx: Transaction, email: string): Promise<{ id: string; role: string | null } | undefined> {
  return await trx.selectFrom('user').select(['id', 'role']).where('email', '=', email).forNoKeyUpdate().executeTakeFirst();
}

/**
 * Locks the counter of an organization's audit entries, alone or after everything else. Returns the last number that was given; undefined
 * if the organization is gone.
 */
export async function lockAuditSequence(trx: Transaction, organizationId: string): Promise<number | undefined> {
  await sql`
    insert into audit_sequence (organization_id) select id from organization where id = ${organizationId} on conflict do nothing
  `.execute(trx);
  const { rows } = await sql<{ last: number }>`
    select last from audit_sequence where organization_id = ${organizationId} ${strengths.change}
  `.execute(trx);
  return rows[0]?.last;
}

/** Locks a flag, to change it or its overrides. Throws NOT_FOUND. */
export async function lockFlag(trx: Transaction, key: string): Promise<FlagRow> {
  const { rows } = await sql<FlagRow>`select * from feature_flag where key = ${key} ${strengths.change}`.execute(trx);
  if (!rows[0]) throw flagNotFound();
  return rows[0];
}
