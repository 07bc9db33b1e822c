import { type Kysely, sql } from 'kysely';
import { withShortLocks } from './online.ts';

export const online = true;

/** The input of a job stays whole as long as the job. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await withShortLocks(db, async (trx) => {
    await sql`drop trigger if exists let_go_of_job_texts on job`.execute(trx);
    await sql`drop function if exists let_go_of_job_texts()`.execute(trx);
    await sql`drop function if exists shorten_job_texts(jsonb)`.execute(trx);
  });
}
