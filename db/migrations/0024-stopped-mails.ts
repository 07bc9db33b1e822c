import { type Kysely, sql } from 'kysely';

/** When the sending of a mail stopped without the mail being sent. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table mail add column stopped_at timestamptz(3)`.execute(db);
}
