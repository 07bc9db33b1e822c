import type { Compose } from './compose.ts';

/** What is left of the work that was accepted, and what happened twice. */
export interface Effects {
  /** Jobs that are not final, and intents that Temporal has not taken. */
  unfinished: number;
  /** Accepted jobs that are absent. */
  lost: number;
  /** Jobs that ended more than once, jobs charged or refunded more than once, and jobs that nobody was told of. */
  twice: number;
}

/** Makes the database record each end of a job, so that one that ends twice in the same state is seen. */
export async function watchEffects(compose: Compose): Promise<void> {
  await compose.query(`
    set role sheaf;
    create table ended_job (id text not null);
    create function note_ended_job() returns trigger language plpgsql as $$
    begin
      insert into ended_job (id) values (new.id);
      return null;
    end $$;
    create trigger ended_job after update of status on job for each row
    when (new.status in ('succeeded', 'failed', 'canceled')) execute function note_ended_job();
  `);
}

/** What is not finished yet. */
export async function countUnfinished(compose: Compose): Promise<number> {
  const [count] = await compose.query(`
    select (select count(*) from job where status in ('queued', 'running')) + (select count(*) from outbox)
  `);
  return Number(count);
}

/** Counts once nothing is unfinished. `accepted` are the jobs of an organization whose creation was confirmed. */
export async function countEffects(compose: Compose, organizationId: string, accepted: ReadonlySet<string>): Promise<Effects> {
  const present = new Set(await compose.query(`select id from job where organization_id = '${organizationId}'`));
  const [ends = '0', charges = '0'] = await compose.query(`
    select count(*) from (select from ended_job group by id having count(*) > 1) as twice
    union all
    select count(*) from (
      select from credit_entry where job_id is not null group by job_id, sign(amount) having count(*) > 1
    ) as twice
  `);
  return {
    unfinished: await countUnfinished(compose),
    lost: accepted.difference(present).size,
    twice: Number(ends) + Number(charges) + present.difference(accepted).size,
  };
}
