import { createOTP } from '@better-auth/utils/otp';
import { APIError } from 'better-auth/api';
import { constantTimeEqual, symmetricDecrypt } from 'better-auth/crypto';
import { sql } from 'kysely';
import type { Db } from '../../db/connect.ts';

const periodMs = 30_000;
const maxFailures = 10;
const lockedFor = sql`interval '15 minutes'`;

/**
 * Counts an attempt to give a code, before anything looks at the code: of many requests at once no more than ten reach it. Returns the
 * encrypted secret; undefined if the user has none. Throws ACCOUNT_TEMPORARILY_LOCKED after ten wrong codes in a row.
 */
export async function countAttempt(db: Db, userId: string): Promise<string | undefined> {
  const failures = sql<number>`case when "lockedUntil" is null then "failedVerificationCount" + 1 else 1 end`;
  const counted = await db
    .updateTable('twoFactor')
    .set({
      failedVerificationCount: failures,
      lockedUntil: sql<Date | null>`case when "lockedUntil" is null and ${failures} >= ${maxFailures} then now() + ${lockedFor} end`,
    })
    .where('userId', '=', userId)
    .where(sql<boolean>`coalesce("lockedUntil" <= now(), true)`)
    .returning('secret')
    .executeTakeFirst();
  if (counted) return counted.secret;
  if (!(await db.selectFrom('twoFactor').select('id').where('userId', '=', userId).executeTakeFirst())) return undefined;
  throw new APIError('TOO_MANY_REQUESTS', {
    code: 'ACCOUNT_TEMPORARILY_LOCKED',
    message: 'Too many wrong codes: the second factor is locked for 15 minutes.',
  });
}

/** Forgets the attempts of a user whose code was right. */
export async function clearAttempts(db: Db, userId: string): Promise<void> {
  await db.updateTable('twoFactor').set({ failedVerificationCount: 0, lockedUntil: null }).where('userId', '=', userId).execute();
}

/** Takes the step of a right code, so that neither it nor an earlier one is taken again (RFC 6238, 5.2). False if that was done before. */
export async function takeStep(db: Db, userId: string, step: number): Promise<boolean> {
  const taken = await db
    .updateTable('twoFactor')
    .set({ lastStep: step, failedVerificationCount: 0, lockedUntil: null })
    .where('userId', '=', userId)
    .where('lastStep', '<', step)
    .executeTakeFirst();
  return taken.numUpdatedRows > 0n;
}

/** The step of 30 s whose code this is: the present one, or the one before or after, as better-auth accepts; undefined for another code. */
export async function stepOf(
  code: string,
  secret: string,
  key: Parameters<typeof symmetricDecrypt>[0]['key'],
): Promise<number | undefined> {
  const otp = createOTP(await symmetricDecrypt({ key, data: secret }));
  const now = Math.floor(Date.now() / periodMs);
  for (const step of [now - 1, now, now + 1]) if (constantTimeEqual(await otp.hotp(step), code)) return step;
  return undefined;
}
