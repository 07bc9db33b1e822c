import { checkSession } from '../auth/session.ts';
import type { Db } from '../db/connect.ts';
import type { Caller } from './caller.ts';
import type { Standing } from './job-streams.ts';

/** How the caller of an open stream stands now: asked every 30 seconds (spec §6). */
export async function findStanding(db: Db, caller: Caller, organizationId: string): Promise<Standing> {
  const session = await checkSession(db, { sessionId: caller.sessionId, userId: caller.userId, organizationId, permission: 'job:read' });
  if (session === 'unauthorized') return { signedIn: false, role: null };
  const member = await db
    .selectFrom('member')
    .select('role')
    .where('organizationId', '=', organizationId)
    .where('userId', '=', caller.userId)
    .executeTakeFirst();
  return { signedIn: true, role: session === 'valid' ? (member?.role ?? null) : null };
}
