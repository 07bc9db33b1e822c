import { sql } from 'kysely';
import type { Db } from '../../db/connect.ts';

/** A place that a stream holds until its lease ends, unless it keeps it. */
export interface HeldPlace {
  userId: string;
  /** 1 to the number of places that a user has. */
  place: number;
  /** The stream. */
  holder: string;
}

/**
 * Takes a free place of a user, or one whose lease has ended, for `leaseSeconds`; undefined where all are held. The table's key
 * lets one stream in for each place, so any number of processes may ask at once.
 */
export async function takePlace(
  db: Db,
  { userId, holder, places, leaseSeconds }: { userId: string; holder: string; places: number; leaseSeconds: number },
): Promise<HeldPlace | undefined> {
  for (;;) {
    const { rows } = await sql<{ free: number; taken: number | null }>`
      with free as (
        select place from generate_series(1, ${places}::int) as place
        where not exists (
          select from job_stream_lease as held where held.user_id = ${userId} and held.place = place.place and held.expires_at > now()
        )
      ), taken as (
        insert into job_stream_lease as lease (user_id, place, holder, expires_at)
        select ${userId}, place, ${holder}, now() + make_interval(secs => ${leaseSeconds}) from free order by place limit 1
        on conflict (user_id, place) do update set holder = excluded.holder, expires_at = excluded.expires_at
          where lease.expires_at <= now()
        returning place
      )
      select (select count(*) from free) as free, (select place from taken) as taken
    `.execute(db);
    const { free = 0, taken = null } = rows[0] ?? {};
    if (taken !== null) return { userId, place: taken, holder };
    // Another stream was faster at the first free place: there may be a second.
    if (free === 0) return undefined;
  }
}
