import { type Kysely, sql } from 'kysely';

/**
 * An impersonation is a session of the user that is not theirs: it ends none of theirs, and does not count. A session that the bound ends is
 * not one that whoever signs in has revoked.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  `create or replace function end_oldest_sessions() returns trigger language plpgsql as $$
     begin
       if new."impersonatedBy" is not null then
         return null;
       end if;
       perform set_config('sheaf.ends_oldest_sessions', 'on', true);
       delete from session where id in (
         select id from session where id in (
           select id from session where "userId" = new."userId" and id <> new.id and "impersonatedBy" is null
           order by ("expiresAt" > now()) desc, "updatedAt" desc offset 99
         ) for update skip locked
       );
       perform set_config('sheaf.ends_oldest_sessions', '', true);
       return null;
     end $$`,
  `create or replace function audit_session() returns trigger language plpgsql as $$
     begin
       if tg_op = 'INSERT' then
         perform record_auth_change(null, 'impersonation.start', 'user', new."userId", jsonb_build_object('sessionId', new.id));
       elsif old."impersonatedBy" is not null then
         perform record_auth_change(null, 'impersonation.stop', 'user', old."userId",
           jsonb_build_object('sessionId', old.id, 'startedBy', old."impersonatedBy"));
       elsif current_setting('sheaf.ends_oldest_sessions', true) is distinct from 'on' and is_platform_admin_acting_on(old."userId") then
         perform record_auth_change(null, 'session.revoke', 'session', old.id, jsonb_build_object('userId', old."userId"));
       end if;
       return null;
     end $$`,
];
