import { checkSession } from '../auth/session.ts';
import type { Db } from '../db/connect.ts';
import type { Caller } from './caller.ts';
import type { Standing } from './job-streams.ts';

/** How the caller of an open stream stands now: asked every 30 seconds (spec §6). */
export function findStanding(db: Db, caller: Caller, organizationId: string): Promise<Standing> {
  return checkSession(db, { sessionId: caller.sessionId, userId: caller.userId, organizationId, permission: 'job:read' });
}
