import { sql } from 'kysely';
import type { Db } from '../../../db/connect.ts';

/**
 * Makes the database record each time a job becomes final, so that an effect that happened twice is seen even if the second one looks
 * like the first.
 */
export async function watchEffects(db: Db): Promise<void> {
  await sql`create table drill_final (job_id text not null)`.execute(db);
  await sql`
    create function drill_note_final() returns trigger language plpgsql as $$
    begin
      insert into drill_final (job_id) values (new.id);
      return null;
    end $$
  `.execute(db);
  await sql`
    create trigger drill_final after update of status on job for each row
    when (new.status in ('succeeded', 'failed', 'canceled')) execute function drill_note_final()
  `.execute(db);
}

/** The jobs that became final more than once. */
export async function listFinalTwice(db: Db): Promise<string[]> {
  const { rows } = await sql<{ job_id: string }>`select job_id from drill_final group by job_id having count(*) > 1`.execute(db);
  return rows.map(({ job_id }) => job_id);
}
