import { createHmac, randomUUID } from 'node:crypto';
import { hashPassword } from 'better-auth/crypto';
import { sql } from 'kysely';
import type { Db } from '../../db/connect.ts';
import { noteTokens } from './run-secrets.ts';

/** The password of every user that {@link insertUser} makes. */
const password = 'a long password';
let hash: Promise<string> | undefined;

/** Writes the rows of a sign-up, which `test/support/support.test.ts` compares with those of a real one. The address is a new one. */
export async function insertUser(db: Db, name: string): Promise<{ id: string; email: string }> {
  // A hash takes a tenth of a second of a processor, and one serves all users.
  hash ??= hashPassword(password);
  const user = { id: randomUUID(), email: `${randomUUID()}@example.com` };
  await sql`with new_user as (
      insert into "user" (id, name, email, role, banned) values (${user.id}, ${name}, ${user.email}, 'user', false)
    )
    insert into account (id, "accountId", "providerId", "userId", password)
      values (${randomUUID()}, ${user.id}, 'credential', ${user.id}, ${await hash})`.execute(db);
  return user;
}

/** Writes the row of a sign-in. Returns what the header `set-auth-token` would have, signed with the secret; the cookie has it escaped. */
export async function insertSession(db: Db, userId: string, secret: string): Promise<string> {
  // Without dashes it is long enough to be looked for in logs.
  const token = randomUUID().replaceAll('-', '');
  await sql`insert into session (id, token, "userId", "expiresAt", "updatedAt", "ipAddress", "userAgent")
    values (${randomUUID()}, ${token}, ${userId}, now() + interval '7 days', now(), '127.0.0.1', 'node')`.execute(db);
  const signed = `${token}.${createHmac('sha256', secret).update(token).digest('base64')}`;
  noteTokens(signed);
  return signed;
}
