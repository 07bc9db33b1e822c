import { type Kysely, sql } from 'kysely';

/** The kinds of jobs are listed once, by the contract: it admits no other (docs/add-a-job-kind.md). */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table job drop constraint if exists job_kind_check`.execute(db);
}
