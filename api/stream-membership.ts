import { checkSession } from '../auth/session.ts';
import type { Db } from '../db/connect.ts';
import type { Caller } from './caller.ts';
import type { StreamMembership } from './job-streams.ts';

/** The membership of the caller of an open stream as it is now: asked at every turn of the stream's authorization. */
export function findStreamMembership(db: Db, caller: Caller, organizationId: string): Promise<StreamMembership> {
  return checkSession(db, { sessionId: caller.sessionId, userId: caller.userId, organizationId, permission: 'job:read' });
}
