import { type Kysely, sql } from 'kysely';
import { waitBriefly } from './online.ts';

/** A link works for an hour after it was signed, and an upload that has begun may take a while. */
const longestUpload = '2 hours';
/** Repeated requests to create a document sign links anew, as long as their keys are kept: a day, and until the next housekeeping. */
const longestSigning = '2 days';

/**
 * Keys of deleted documents for which a link may still work. It may store an object after the deletion, which nobody would count or delete.
 * When no link works any more, the sweep requests the deletion of the object.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await waitBriefly(db);
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  `create table late_upload (
    key text primary key,
    organization_id text not null,
    due_at timestamptz(3) not null default now() + interval '${longestUpload}'
  )`,
  `create index late_upload_due on late_upload (due_at)`,
  `create function expect_late_upload() returns trigger language plpgsql as $$
     begin
       insert into late_upload (key, organization_id) values (old.object_key, old.organization_id)
         on conflict (key) do update set due_at = excluded.due_at;
       return null;
     end $$`,
  `create trigger expect_late_upload after delete on document for each row
     when (old.status = 'pending' or old.created_at > now() - interval '${longestSigning}') execute function expect_late_upload()`,
];
