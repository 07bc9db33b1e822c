import type { IncomingHttpHeaders } from 'node:http';
import type { Request, Response } from 'express';
import { impersonatedAccess, type Permission } from '../contract/access.ts';
import { ApiError } from '../contract/api-error.ts';
import type { AnyRoute } from '../contract/route.ts';
import type { Db } from '../db/connect.ts';
import { secretPrefix } from '../domain/api-keys/secret.ts';
import type { Actor } from '../domain/audit.ts';
import { findKey, type KeyCaller, keyMay, readKeyHash } from './auth/api-key.ts';
import { callerMay, checkSession, type Caller as UserCaller } from './auth/session.ts';
import { readBearer } from './auth/session-token.ts';

export type { KeyCaller, UserCaller };

/** Who calls: a user by a session, or an API key. */
export type Caller = UserCaller | KeyCaller;

export function isKey(caller: Caller): caller is KeyCaller {
  return 'keyId' in caller;
}

/** The id of the user or the API key, by which it is counted, audited and remembered. */
export function callerId(caller: Caller): string {
  return isKey(caller) ? caller.keyId : caller.userId;
}

/** The organizations that the caller may enter. */
export function organizationsOf(caller: Caller): string[] {
  return isKey(caller) ? [caller.organizationId] : Object.keys(caller.memberships);
}

/** The only workspace that the caller reaches; undefined without such a bound. */
export function workspaceOf(caller: Caller): string | undefined {
  return (isKey(caller) && caller.workspaceId) || undefined;
}

/** The caller of a route that keys may not call. */
export function userOf(caller: Caller): UserCaller {
  if (isKey(caller)) throw new ApiError('FORBIDDEN');
  return caller;
}

/** The caller of a route that only keys may call. */
export function keyOf(caller: Caller): KeyCaller {
  if (isKey(caller)) return caller;
  throw new ApiError('FORBIDDEN', { message: 'Only an API key may do this.' });
}

/** The functions of authentication that the API needs. */
export interface Authentication {
  /** The user behind a cookie or bearer token; undefined without a valid session. */
  findCaller(headers: IncomingHttpHeaders): Promise<UserCaller | undefined>;
  /** The live API key with a secret of this hash. */
  findKey(hash: string): Promise<KeyCaller | undefined>;
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
  if (readKeyHash(req.headers) !== undefined) return authenticateKey(authentication, route, req, res);
  const caller = await authentication.findCaller(req.headers);
  if (!caller && readBearer(req.headers)?.startsWith(secretPrefix))
    throw new ApiError('UNAUTHORIZED', { message: 'This is no API key: it may be mistyped, or cut off.' });
  if (!caller) throw new ApiError('UNAUTHORIZED');
  if (access === 'api-key') keyOf(caller);
  if (caller.impersonatedBy !== null && !impersonatedAccess.includes(access))
    throw new ApiError('FORBIDDEN', { message: 'Only the user may do this, not who impersonates them.' });
  if (access === 'platform-admin' && caller.role !== 'admin') throw new ApiError('FORBIDDEN');
  if (access === 'platform-admin' && caller.lacksTwoFactor)
    throw new ApiError('FORBIDDEN', { message: 'Platform admins need a second factor here: turn it on first.' });
  if (caller.refreshedCookie !== undefined) res.append('Set-Cookie', caller.refreshedCookie);
  return caller;
}

async function authenticateKey(authentication: Authentication, route: AnyRoute, req: Request, res: Response): Promise<KeyCaller> {
  const key = await noteKey(authentication, req, res);
  if (!key) throw new ApiError('UNAUTHORIZED', { message: 'This API key is not good: it may be revoked, expired or suspended.' });
  if (!needsMembership(route)) throw new ApiError('FORBIDDEN', { message: 'An API key may not do this.' });
  return key;
}

/** The live API key of a request, which is looked up once; undefined if it carries none. */
export async function noteKey(authentication: Authentication, req: Request, res: Response): Promise<KeyCaller | undefined> {
  const hash = readKeyHash(req.headers);
  if (hash === undefined) return undefined;
  if (!('key' in res.locals)) res.locals.key = await authentication.findKey(hash);
  return res.locals.key as KeyCaller | undefined;
}

/** Whether a route is open only to members of the organization of its row. */
export function needsMembership({ metadata: { access } }: AnyRoute): boolean {
  return access !== 'public' && access !== 'signed-in' && access !== 'platform-admin';
}

/**
 * Throws FORBIDDEN if the caller is not a member of the organization, or lacks the permission that the route needs there; also for a key of
 * one workspace if it is not this one.
 */
export function checkMembership(
  { metadata: { access } }: AnyRoute,
  caller: Caller | undefined,
  organizationId: string,
  workspaceId: string | null,
): void {
  if (!caller || access === 'public' || access === 'platform-admin') throw new ApiError('FORBIDDEN');
  checkPermission(
    caller,
    { organizationId, workspaceId },
    access === 'member' || access === 'signed-in' || access === 'api-key' ? undefined : access,
  );
}

/**
 * Throws FORBIDDEN unless the caller may enter the organization and the workspace, and has the permission if one is given. For input that
 * asks for more than the permission of its route.
 */
export function checkPermission(
  caller: Caller,
  { organizationId, workspaceId }: { organizationId: string; workspaceId: string | null },
  permission?: Permission,
): void {
  const place = { organizationId, workspaceId };
  if (holdsPermission(caller, place, permission)) return;
  // Someone who is not a member learns nothing of the row.
  if (permission === undefined || !holdsPermission(caller, place)) throw refusalAtDoor(caller, place);
  const whose = isKey(caller) ? 'this API key or who is responsible for it does not have' : 'you do not have in this organization';
  throw new ApiError('FORBIDDEN', { message: `This needs the permission ${permission}, which ${whose}.` });
}

/** The refusal of who may not enter: a key of one workspace is told what would be let in, of its own organization. */
function refusalAtDoor(caller: Caller, { organizationId, workspaceId }: { organizationId: string; workspaceId: string | null }): ApiError {
  if (!isKey(caller) || caller.organizationId !== organizationId) return new ApiError('FORBIDDEN');
  const remedy =
    workspaceId === null
      ? ": name that one as workspaceId. What concerns the whole organization needs a key of all workspaces, or a member's session."
      : ', and this is in another one.';
  return new ApiError('FORBIDDEN', { message: `This API key reaches one workspace only${remedy}` });
}

/** Whether the caller may enter the organization and the workspace, and has the permission if one is given. */
export function holdsPermission(
  caller: Caller,
  { organizationId, workspaceId }: { organizationId: string; workspaceId: string | null },
  permission?: Permission,
): boolean {
  return isKey(caller) ? keyMay(caller, organizationId, workspaceId, permission) : callerMay(caller, organizationId, permission);
}

/** The caller as the audit log records it. */
export function actorOf(caller: Caller | undefined): Actor {
  if (!caller) return { userId: null, email: null, impersonatedBy: null };
  if (isKey(caller)) return { userId: caller.keyId, email: null, impersonatedBy: null };
  return { userId: caller.userId, email: caller.email, impersonatedBy: caller.impersonatedBy };
}

/** Whether the session or key of a caller is valid, and the role by which they may read what they wait for; null if none allows it. */
export interface StreamMembership {
  signedIn: boolean;
  role: string | null;
}

interface StreamPlace {
  organizationId: string;
  workspaceId?: string | null | undefined;
  /** What they need; `job:read` if it is not given. */
  permission?: 'job:read' | 'auditLog:read' | 'document:read';
}

/** Reads the membership of the caller of an open stream as it is now. A stream calls it repeatedly. */
export async function findStreamMembership(
  db: Db,
  caller: Caller,
  { organizationId, workspaceId = null, permission = 'job:read' }: StreamPlace,
): Promise<StreamMembership> {
  if (isKey(caller)) {
    const key = await findKey(db, caller.hash);
    return { signedIn: key !== undefined, role: key && keyMay(key, organizationId, workspaceId, permission) ? key.role : null };
  }
  return checkSession(db, { sessionId: caller.sessionId, userId: caller.userId, organizationId, permission });
}

/** Checks again that a caller who has waited is signed in and a member. Throws UNAUTHORIZED or FORBIDDEN. */
export async function checkStill(db: Db, caller: Caller, place: StreamPlace): Promise<void> {
  // A caller with an access token of a provider has no session that could have ended.
  if (!isKey(caller) && caller.sessionId === '') return;
  const { signedIn, role } = await findStreamMembership(db, caller, place);
  if (!signedIn) throw new ApiError('UNAUTHORIZED');
  if (role === null) throw new ApiError('FORBIDDEN');
}

/**
 * Checks the route's own permission in the organization of the row that was read: throws FORBIDDEN at once. Otherwise waits for one of the
 * organization's permits, which is held until the procedure has its result. If a route needs membership and its handler never calls this, the
 * request fails with 500. Without the row's workspace, a key of one workspace is refused.
 */
export type Authorize = (organizationId: string, workspaceId?: string | null) => Promise<void>;
