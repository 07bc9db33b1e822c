import { type Kysely, sql } from 'kysely';

/** Mails that wait to be sent. A row goes once its mail is sent; one that stays is a mail that was given up. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  `create table mail (
    id text primary key,
    kind text not null,
    recipient text not null,
    reply_to_address text,
    reply_to_name text,
    subject text not null,
    body text not null,
    attempts integer not null default 0,
    last_error text,
    created_at timestamptz(3) not null default now(),
    check (reply_to_name is null or reply_to_address is not null)
  )`,
  `create index mail_created on mail (created_at)`,
];
