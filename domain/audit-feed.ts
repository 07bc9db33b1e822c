import { sql } from 'kysely';
import { ApiError } from '../contract/api-error.ts';
import { maxFedEntries } from '../contract/organizations.ts';
import { anyOf } from '../db/batched-read.ts';
import type { Db, Transaction } from '../db/connect.ts';
import { inTransaction } from '../db/transaction.ts';
import type { AuditEntryRow } from './audit.ts';
import { lockAuditSequence } from './locks.ts';
import { fitPage, maxPageBytes, readRows, rowBytes } from './page.ts';

type NumberedEntry = AuditEntryRow & { organization_id: string; sequence: number };

export interface FeedPosition {
  organizationId: string;
  /** The number of the last entry that the reader has. */
  after: number;
  limit: number;
}

/**
 * The next audit entries of an organization in the order of their numbers: at most `limit`, at most 4 MiB. Entries are numbered here, after
 * their commit (docs/decisions/audit.md); none is left out, and none comes twice. Empty if the reader has them all. Throws BAD_REQUEST if
 * `after` is a number that was not given yet, as after a restore.
 */
export async function readAuditFeed(db: Db, position: FeedPosition): Promise<NumberedEntry[]> {
  const numbered = await readNumbered(db, position);
  if (numbered.length > 0) return numbered;
  // Another reader may have numbered them meanwhile.
  const last = await inTransaction(db, (trx) => numberEntries(trx, position.organizationId));
  if (last === undefined || last === position.after) return [];
  // What waits for a number may have had one, if this is a copy of the database from before.
  if (last < position.after && !(await hasEntries(db, position))) throw notGivenYet(position.after, last);
  return await readNumbered(db, position);
}

function notGivenYet(after: number, last: number): ApiError {
  const message = `The last entry has the number ${last}, and \`after\` is ${after}.`;
  return new ApiError('BAD_REQUEST', { message, data: { issues: [{ path: ['after'], message }] } });
}

/** Whether {@link readAuditFeed} may find something. It locks nothing. */
export async function hasEntries(db: Db, { organizationId, after }: FeedPosition): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`
    select exists (select from audit_entry where organization_id = ${organizationId} and sequence > ${after})
      or exists (select from audit_entry where organization_id = ${organizationId} and sequence is null) as found
  `.execute(db);
  return rows[0]?.found === true;
}

async function readNumbered(db: Db, { organizationId, after, limit }: FeedPosition): Promise<NumberedEntry[]> {
  const sized = sql`
    select id, sequence as at, ${sql.lit(rowBytes)} + coalesce(octet_length(metadata::text), 0) as bytes from audit_entry
    where organization_id = ${organizationId} and sequence > ${after}
    order by sequence limit ${limit + 1}
  `;
  const page = await fitPage(db, sized, { order: 'asc', limit, maxBytes: maxPageBytes });
  const read = (ids: string[]) => db.selectFrom('audit_entry').selectAll().where('id', '=', anyOf(ids)).execute();
  return (await readRows(page, read)) as NumberedEntry[];
}

/**
 * Numbers the oldest committed entries without a number, one response of them. Returns the last number that is given, undefined if the
 * organization is gone. Numbers become visible in their order, since only one transaction at a time gives them. An entry that retention is
 * deleting is left to it: its number would be missing.
 */
async function numberEntries(trx: Transaction, organizationId: string): Promise<number | undefined> {
  const last = await lockAuditSequence(trx, organizationId);
  if (last === undefined) return undefined;
  const { rows } = await sql<{ id: string }>`
    select id from audit_entry where organization_id = ${organizationId} and sequence is null
    order by sequence, created_at, id limit ${maxFedEntries} for update skip locked
  `.execute(trx);
  const ids = rows.map(({ id }) => id);
  const sequence = sql<number>`${last} + array_position(${ids}::text[], id)`;
  await trx.updateTable('audit_entry').set({ sequence }).where('id', '=', anyOf(ids)).execute();
  const to = { last: last + ids.length };
  if (ids.length > 0) await trx.updateTable('audit_sequence').set(to).where('organization_id', '=', organizationId).execute();
  return to.last;
}
