import type { IncomingHttpHeaders } from 'node:http';
import { sql } from 'kysely';
import type { KeyPermission, Permission } from '../../contract/access.ts';
import { batchedRead } from '../../db/batched-read.ts';
import type { Db } from '../../db/connect.ts';
import { hashSecret, isSecret } from '../../domain/api-keys/secret.ts';
import { notBanned } from '../../domain/users/not-banned.ts';
import { hasPermission, parseRoles } from './permissions.ts';
import { readBearer } from './session-token.ts';

/** An API key that calls. It acts as itself, within its permissions and those of the member who is responsible for it. */
export interface KeyCaller {
  keyId: string;
  name: string;
  organizationId: string;
  /** The only workspace that it reaches; null for all. */
  workspaceId: string | null;
  permissions: KeyPermission[];
  /** The stored roles of the member who is responsible for it. */
  role: string;
  requestsPerMinute: number;
  /** Of the secret that the request carried. */
  hash: string;
  expiresAt: Date | null;
}

/** The hash of the secret that a request carries as `Authorization: Bearer`; undefined if that has not the form of one. */
export function readKeyHash(headers: IncomingHttpHeaders): string | undefined {
  const bearer = readBearer(headers);
  return bearer !== undefined && isSecret(bearer) ? hashSecret(bearer) : undefined;
}

/**
 * The live key with a secret of this hash: neither the secret nor the overlap of its rotation has ended, and the member who is responsible
 * for it still is one and not banned. Notes its use, at most once a minute.
 */
export async function findKey(db: Db, hash: string): Promise<KeyCaller | undefined> {
  const row = await keyByHash(db, hash);
  if (!row) return undefined;
  const { isUsed, ...key } = row;
  if (isUsed) await noteUse(db, key.keyId);
  return key;
}

/** Whether the key reaches the workspace of the organization, or what belongs to no workspace (null), and has the permission now. */
export function keyMay(key: KeyCaller, organizationId: string, workspaceId: string | null, permission?: Permission): boolean {
  if (key.organizationId !== organizationId || (key.workspaceId !== null && key.workspaceId !== workspaceId)) return false;
  if (permission === undefined) return true;
  return (key.permissions as Permission[]).includes(permission) && hasPermission(parseRoles(key.role), permission);
}

const thisMinute = sql<Date>`date_trunc('minute', now())`;

const keyByHash = batchedRead(
  async (db, hashes) => {
    const { rows } = await sql<KeyCaller & { isUsed: boolean }>`
      select key.id as "keyId", key.name, key.organization_id as "organizationId", key.workspace_id as "workspaceId", key.permissions,
        member.role, key.requests_per_minute as "requestsPerMinute", given.hash,
        case given.hash when key.hash then key.expires_at else key.previous_expires_at end as "expiresAt",
        key.last_used_at is distinct from ${thisMinute} as "isUsed"
      from unnest(${hashes}::text[]) as given (hash)
      join api_key as key
        on (key.hash = given.hash and coalesce(key.expires_at > now(), true))
        or (key.previous_hash = given.hash and key.previous_expires_at > now())
      join "user" on "user".id = case given.hash when key.hash then key.responsible_id else key.previous_responsible_id end
        and ${notBanned('user')}
      join member on member."userId" = "user".id and member."organizationId" = key.organization_id
    `.execute(db);
    return rows;
  },
  ({ hash }) => hash,
);

/** Records the use once a minute. Of concurrent requests only one writes, and the others do not wait for it. */
async function noteUse(db: Db, keyId: string): Promise<void> {
  const unnoted = sql<string>`(
    select id from api_key where id = ${keyId} and last_used_at is distinct from ${thisMinute} for no key update skip locked
  )`;
  await db.updateTable('api_key').set({ last_used_at: thisMinute }).where('id', '=', unnoted).execute();
}
