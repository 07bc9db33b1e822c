import type { IncomingHttpHeaders } from 'node:http';
import { getCookies } from 'better-auth/cookies';
import { serializeSignedCookie } from 'better-call';
import { sql } from 'kysely';
import { sessionSecrets } from '../../base/config/keys.ts';
import type { ServerConfig } from '../../base/config/server.ts';
import { impersonatedAccess, type Permission } from '../../contract/access.ts';
import { anyOf, batchedRead } from '../../db/batched-read.ts';
import type { Db } from '../../db/connect.ts';
import { notBanned } from '../../domain/users/not-banned.ts';
import { hasPermission, parseRoles } from './permissions.ts';
import { cookieOptions, sessionLifetime } from './session-options.ts';
import { readSessionToken } from './session-token.ts';

/** The caller of a request, by the session of its cookie or bearer token. */
export interface Caller {
  userId: string;
  email: string;
  name: string;
  image: string | null;
  /** `admin` marks a platform admin. */
  role: string | null;
  createdAt: Date;
  sessionId: string;
  /** Whether this is a platform admin who may do nothing as such before the second factor is turned on. */
  lacksTwoFactor: boolean;
  /** The platform admin behind an impersonated session. */
  impersonatedBy: string | null;
  /** The stored roles of each organization that the user is a member of, as they were when the request began. */
  memberships: Record<string, string>;
  /** The `Set-Cookie` that extends the browser's cookie, if this request extended the session. */
  refreshedCookie?: string;
}

/** The caller behind the headers of a request; undefined without a valid session. */
export type FindSession = (headers: IncomingHttpHeaders) => Promise<Caller | undefined>;

/**
 * Returns the session lookup of every API request, which is one query. better-auth's own lookup takes several queries, a transaction
 * and hooks. A test compares the two.
 */
export function createFindSession(db: Db, config: ServerConfig): FindSession {
  const secrets = sessionSecrets(config);
  const cookie = getCookies(cookieOptions(config)).sessionToken;
  return async (headers) => {
    const signed = readSessionToken(headers, { cookieName: cookie.name, secrets });
    if (!signed) return undefined;
    const row = await sessionByToken(db, signed.token);
    if (!row) return undefined;
    const { token: _, expiresAt, startedAt, isUsed, twoFactorEnabled, ...user } = row;
    const caller = { ...user, lacksTwoFactor: config.requireAdminTwoFactor && user.role === 'admin' && !twoFactorEnabled };
    if (!isUsed || !(await refresh(db, { id: row.sessionId, expiresAt, startedAt })) || signed.from === 'bearer') return caller;
    return { ...caller, refreshedCookie: await serializeSignedCookie(cookie.name, signed.token, secrets[0], { ...cookie.attributes }) };
  };
}

/**
 * Authorizes a caller again, with one query: whether the session is live and its user not banned, and the stored role in the organization.
 * The role is null if there is none, or if it no longer has the permission.
 */
export async function checkSession(
  db: Db,
  access: { sessionId: string; userId: string; organizationId: string; permission?: Permission },
): Promise<{ signedIn: boolean; role: string | null }> {
  const row = await liveSessions(db)
    .leftJoin('member', (join) => join.onRef('member.userId', '=', 'user.id').on('member.organizationId', '=', access.organizationId))
    .select('member.role')
    .where('session.id', '=', access.sessionId)
    .where('user.id', '=', access.userId)
    .executeTakeFirst();
  const permitted = row?.role && (!access.permission || hasPermission(parseRoles(row.role), access.permission));
  return { signedIn: row !== undefined, role: permitted ? row.role : null };
}

/** Read together with the session, so that a request needs no second query to be authorized. */
export const memberships = sql<Record<string, string>>`(
  select coalesce(json_object_agg("organizationId", member.role), '{}') from member where member."userId" = "user".id
)`.as('memberships');

/** The remaining lifetime of a session at which its use extends it, in seconds. */
const lifetimeAfterUse = sessionLifetime.expiresIn - sessionLifetime.updateAge;

const sessionByToken = batchedRead(
  (db, tokens) =>
    liveSessions(db)
      .select(['user.id as userId', 'user.email', 'user.name', 'user.image', 'user.role', 'user.createdAt', 'user.twoFactorEnabled'])
      .select(memberships)
      .select(['session.id as sessionId', 'session.impersonatedBy', 'session.expiresAt', 'session.createdAt as startedAt'])
      .select('session.token')
      .select(sql<boolean>`session."expiresAt" <= now() + make_interval(secs => ${sql.lit(lifetimeAfterUse)})`.as('isUsed'))
      .where('session.token', '=', anyOf(tokens))
      .execute(),
  ({ token }) => token,
);

/**
 * Whether the caller is a member of the organization and has the permission, which an impersonated session may not use in each case. Without
 * a permission, membership is enough.
 */
export function callerMay(caller: Caller, organizationId: string, permission?: Permission): boolean {
  if (caller.impersonatedBy !== null && permission !== undefined && !impersonatedAccess.includes(permission)) return false;
  const stored = storedRole(caller, organizationId);
  return stored !== undefined && (permission === undefined || hasPermission(parseRoles(stored), permission));
}

/** The stored roles of the caller in an organization; undefined if the caller is not a member. */
export function storedRole({ memberships }: Caller, organizationId: string): string | undefined {
  // The id may be the name of an inherited property.
  return Object.hasOwn(memberships, organizationId) ? memberships[organizationId] : undefined;
}

/**
 * Sessions that have not expired, of users who are not banned. An impersonated one is live only while its admin still is an admin, and has a
 * session from before it: revoking those of an admin, or a new password, also ends what they began.
 */
function liveSessions(db: Db) {
  return db
    .selectFrom('session')
    .innerJoin('user', 'user.id', 'session.userId')
    .where('session.expiresAt', '>', sql<Date>`now()`)
    .where(notBanned('user'))
    .where(sql<boolean>`(session."impersonatedBy" is null or exists (
      select from "user" as admin join session as own on own."userId" = admin.id
      where admin.id = session."impersonatedBy" and admin.role = 'admin' and ${notBanned('admin')}
        and own."impersonatedBy" is null and own."createdAt" <= session."createdAt" and own."expiresAt" > now()
    ))`);
}

/**
 * Extends a session if it is used more than `updateAge` after it began or was last extended, as better-auth does. Returns whether it
 * was extended. Sessions that are impersonated or not remembered live shorter and are never extended.
 */
async function refresh(db: Db, session: { id: string; expiresAt: Date; startedAt: Date }): Promise<boolean> {
  const { expiresIn } = sessionLifetime;
  const remembered = session.expiresAt.getTime() - session.startedAt.getTime() >= (expiresIn - 60) * 1000;
  if (!remembered) return false;
  const result = await db
    .updateTable('session')
    .set({ expiresAt: sql<Date>`now() + make_interval(secs => ${expiresIn})`, updatedAt: sql<Date>`now()` })
    .where('id', '=', session.id)
    .where('expiresAt', '=', session.expiresAt)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}
