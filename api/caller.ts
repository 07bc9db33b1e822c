import type { IncomingHttpHeaders } from 'node:http';
import type { Request, Response } from 'express';
import { type Caller, callerMay, checkSession } from '../auth/session.ts';
import { ApiError } from '../contract/api-error.ts';
import type { AnyRoute } from '../contract/route.ts';
import type { Db } from '../db/connect.ts';
import type { Actor } from '../domain/audit.ts';

export type { Caller };

/** The functions of authentication that the API needs. */
export interface Authentication {
  /** The caller behind a cookie or bearer token; undefined without a valid session. */
  findCaller(headers: IncomingHttpHeaders): Promise<Caller | undefined>;
}

/**
 * Returns the caller of a route; undefined if the route is public. Throws UNAUTHORIZED or FORBIDDEN for a caller who may not call it at
 * all. If this request extended the session, the response sends its cookie again.
 */
export async function authenticate(
  authentication: Authentication,
  route: AnyRoute,
  req: Request,
  res: Response,
): Promise<Caller | undefined> {
  const { access } = route.metadata;
  if (access === 'public') return undefined;
  const caller = await authentication.findCaller(req.headers);
  if (!caller) throw new ApiError('UNAUTHORIZED');
  if (access === 'platform-admin' && caller.role !== 'admin') throw new ApiError('FORBIDDEN');
  if (caller.refreshedCookie !== undefined) res.append('Set-Cookie', caller.refreshedCookie);
  return caller;
}

/** Whether a route is open only to members of the organization of its row. */
export function needsMembership({ metadata: { access } }: AnyRoute): boolean {
  return access !== 'public' && access !== 'signed-in' && access !== 'platform-admin';
}

/** Throws FORBIDDEN if the caller is not a member of the organization, or lacks the permission that the route needs there. */
export function checkMembership({ metadata: { access } }: AnyRoute, caller: Caller | undefined, organizationId: string): void {
  if (!caller || access === 'public' || access === 'platform-admin') throw new ApiError('FORBIDDEN');
  const permission = access === 'member' || access === 'signed-in' ? undefined : access;
  if (!callerMay(caller, organizationId, permission)) throw new ApiError('FORBIDDEN');
}

/** The caller as the audit log records it. */
export function actorOf(caller: Caller | undefined): Actor {
  if (!caller) return { userId: null, email: null, impersonatedBy: null };
  return { userId: caller.userId, email: caller.email, impersonatedBy: caller.impersonatedBy };
}

/** Whether the session of a caller is live, and the role that lets them read the jobs of the stream's organization. */
export interface StreamMembership {
  signedIn: boolean;
  role: string | null;
}

/** Reads the membership of the caller of an open stream as it is now. A stream calls it repeatedly. */
export function findStreamMembership(db: Db, caller: Caller, organizationId: string): Promise<StreamMembership> {
  return checkSession(db, { sessionId: caller.sessionId, userId: caller.userId, organizationId, permission: 'job:read' });
}

/**
 * Checks the route's own permission in the organization of the row that was read: throws FORBIDDEN at once. Otherwise waits for one of the
 * organization's permits, which is held until the procedure has its result. If a route needs membership and its handler never calls this, the
 * request fails with 500.
 */
export type Authorize = (organizationId: string) => Promise<void>;
