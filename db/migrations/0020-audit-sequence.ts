import { type Kysely, sql } from 'kysely';
import { createIndexes, withShortLocks } from './online.ts';

export const online = true;

/** Numbers of the audit entries of each organization, without gaps; given when somebody reads them in that order. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await withShortLocks(db, async (trx) => {
    await sql`create table if not exists audit_sequence (
      organization_id text primary key references organization (id) on delete cascade,
      last bigint not null default 0
    )`.execute(trx);
    await sql`alter table audit_entry add column if not exists sequence bigint`.execute(trx);
  });
  await createIndexes(db, { audit_entry_sequence: 'on audit_entry (organization_id, sequence, created_at, id)' });
}
