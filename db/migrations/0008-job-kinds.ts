import { type Kysely, sql } from 'kysely';

/** Each statement commits by itself, so that rows are checked without the lock that adds the check. */
export const online = true;

/**
 * A job has a kind that the contract knows (`jobKinds` in contract/jobs.ts; a test compares). New rows are checked from the first
 * statement on. The second checks the old ones and blocks no write. Both may run again.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  // The lock is held for a moment. Whoever waits for it holds up all who come after, so it does not wait long.
  `do $$ begin
     perform set_config('lock_timeout', '500ms', true);
     alter table job drop constraint if exists job_kind_check;
     alter table job add constraint job_kind_check
       check (kind in ('document.extract', 'document.summarize', 'document.index', 'text.summarize', 'text.embed')) not valid;
   end $$`,
  `alter table job validate constraint job_kind_check`,
];
