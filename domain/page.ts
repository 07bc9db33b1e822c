import { createHmac, timingSafeEqual } from 'node:crypto';
import { ApiError } from '../contract/api-error.ts';

/** A page of a list. `nextCursor` is null on the last one. */
export interface Page<Row> {
  items: Row[];
  nextCursor: string | null;
}

/** Makes a page of `limit + 1` rows of the database: the extra row shows that there is a next page. */
export function toPage<Row extends { created_at: Date; id: string }>(
  rows: Row[],
  limit: number,
  cursors: Cursors,
  scope: string,
): Page<Row> {
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  const more = rows.length > limit && last !== undefined;
  return { items, nextCursor: more ? cursors.encode(scope, positionOf(last)) : null };
}

function positionOf(row: { created_at: Date; id: string }): Position {
  return { createdAt: row.created_at, id: row.id };
}

/** The row after which the next page begins, in a list that is ordered by creation. */
export interface Position {
  createdAt: Date;
  id: string;
}

/**
 * Opaque, signed cursors. Each is bound to a scope, such as `jobs:<organizationId>`: one issued to another tenant
 * or by another list is refused as BAD_REQUEST, like anything else that this service did not issue.
 */
export interface Cursors {
  encode(scope: string, position: Position): string;
  decode(scope: string, cursor: string): Position;
}

const macBytes = 16;

export function createCursors(key: Buffer): Cursors {
  const sign = (scope: string, payload: string) => createHmac('sha256', key).update(`${scope}\n${payload}`).digest().subarray(0, macBytes);
  return {
    encode(scope, position) {
      const payload = `${position.createdAt.getTime().toString(36)}.${position.id}`;
      return `${Buffer.from(payload).toString('base64url')}.${sign(scope, payload).toString('base64url')}`;
    },
    decode(scope, cursor) {
      const [encoded = '', mac = ''] = cursor.split('.');
      const payload = Buffer.from(encoded, 'base64url').toString();
      const given = Buffer.from(mac, 'base64url');
      const separator = payload.indexOf('.');
      // Base64 has several spellings of the same bytes: only the one that was issued is accepted.
      const issued = given.length === macBytes && timingSafeEqual(given, sign(scope, payload));
      // Base64 spells the same bytes in several ways: only the spelling that was issued is accepted.
      const canonical = cursor === `${Buffer.from(payload).toString('base64url')}.${given.toString('base64url')}`;
      if (!issued || !canonical || separator < 1) throw badCursor();
      return { createdAt: new Date(Number.parseInt(payload.slice(0, separator), 36)), id: payload.slice(separator + 1) };
    },
  };
}

function badCursor(): ApiError {
  const message = 'The cursor was not issued by this list.';
  return new ApiError('BAD_REQUEST', { message, data: { issues: [{ path: ['cursor'], message }] } });
}
