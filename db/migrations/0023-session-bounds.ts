import { type Kysely, sql } from 'kysely';

/** What a user's sessions may hold: a hundred of them, each with at most 512 characters of what its browser calls itself. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  `create function cut_user_agent() returns trigger language plpgsql as $$
     begin
       new."userAgent" := left(new."userAgent", 512);
       return new;
     end $$`,
  `create trigger cut_user_agent before insert or update of "userAgent" on session
     for each row when (char_length(new."userAgent") > 512) execute function cut_user_agent()`,

  // Sessions that another sign-in of the user ends at this moment are left to it, so that neither waits.
  `create function end_oldest_sessions() returns trigger language plpgsql as $$
     begin
       delete from session where id in (
         select id from session where id in (
           select id from session where "userId" = new."userId" and id <> new.id
           order by ("expiresAt" > now()) desc, "updatedAt" desc offset 99
         ) for update skip locked
       );
       return null;
     end $$`,
  `create trigger end_oldest_sessions after insert on session for each row execute function end_oldest_sessions()`,
];
