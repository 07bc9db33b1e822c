import { sql } from 'kysely';
import type { Db, Transaction } from '../../db/connect.ts';
import { makeAdmin } from './grant-admin.ts';

/** Who becomes the first platform admin. */
interface FirstAdminRule {
  /** The user with this address, in lower case; undefined is whoever signed up first. */
  email: string | undefined;
  /** Whether the address must have been verified. */
  verified: boolean;
}

/** Makes a user the platform admin if there is none yet and the rule allows this user. Of concurrent calls only one succeeds. */
export async function grantFirstAdmin(
  trx: Transaction,
  userId: string,
  { email, verified }: FirstAdminRule,
): Promise<'granted' | 'has-admin' | 'another-user'> {
  const eligible = trx
    .selectFrom('user')
    .select(['id', 'role'])
    .where(verified ? sql<boolean>`"emailVerified"` : sql<boolean>`true`);
  const meant = email === undefined ? eligible.orderBy('createdAt').orderBy('id').limit(1) : eligible.where('email', '=', email);
  if ((await meant.executeTakeFirst())?.id !== userId) return 'another-user';
  await sql`select pg_advisory_xact_lock(hashtextextended('first admin', 0))`.execute(trx);
  const user = (await hasAdmin(trx)) ? undefined : await meant.executeTakeFirst();
  if (!user) return 'has-admin';
  if (user.id !== userId) return 'another-user';
  await makeAdmin(trx, user, 'first-admin');
  return 'granted';
}

/** Whether there is a platform admin. */
export async function hasAdmin(db: Db | Transaction): Promise<boolean> {
  return (await db.selectFrom('user').select('id').where('role', '=', 'admin').limit(1).executeTakeFirst()) !== undefined;
}
