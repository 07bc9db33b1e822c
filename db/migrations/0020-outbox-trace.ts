import { type Kysely, sql } from 'kysely';

/** The place in a trace that wrote an intent, so that its workflow is a part of the same trace. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table outbox add column traceparent text`.execute(db);
}
