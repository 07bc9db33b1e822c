import { createHmac, timingSafeEqual } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import { ApiError } from '../contract/api-error.ts';
import type { Db } from '../db/connect.ts';

/** A page of a list. `nextCursor` is null on the last one. */
export interface Page<Row> {
  items: Row[];
  nextCursor: string | null;
}

/** The maximum size of a page in bytes of JSON. Only a single larger row may exceed it. */
export const maxPageBytes = 4 * 1024 * 1024;

/** A generous bound for the bytes of JSON of a row besides texts of tenants. */
export const rowBytes = 1_024;

/** What a list is ordered by, before the id: mostly the time of creation. */
type SortKey = Date | number | string;

/** A candidate row of a page: its position in the order, and its size in bytes of JSON. */
interface SizedRow {
  id: string;
  at: SortKey;
  bytes: number;
}

interface PageBounds {
  order: 'asc' | 'desc';
  limit: number;
  maxBytes: number;
}

/** The rows of a page: as many as fit. `more`: whether there are others after them. */
export interface SizedPage {
  rows: SizedRow[];
  bytes: number;
  more: boolean;
}

/**
 * The rows of a page: at most `limit`, at most `maxBytes` together, and at least one. Postgres adds up the sizes, so that only the contents
 * of rows that fit are read. `sized` selects at most `limit + 1` rows as `id, at, bytes`, ordered by (at, id).
 */
export async function fitPage(db: Db, sized: RawBuilder<unknown>, { order, limit, maxBytes }: PageBounds): Promise<SizedPage> {
  const direction = sql.raw(order);
  const { rows } = await sql<SizedRow & { candidates: number }>`select id, at, bytes, candidates from (
      select id, at, bytes, count(*) over () as candidates,
        row_number() over (order by at ${direction}, id ${direction}) as number,
        sum(bytes) over (order by at ${direction}, id ${direction}) as total
      from (${sized}) as candidate
    ) as summed
    where number = 1 or (number <= ${limit} and total <= ${maxBytes})
    order by number
  `.execute(db);
  const bytes = rows.reduce((sum, row) => sum + row.bytes, 0);
  return { rows, bytes, more: rows.length < (rows[0]?.candidates ?? 0) };
}

/** The cursor after a page of {@link fitPage}; null if it is the last one. */
export function cursorAfter({ rows, more }: SizedPage, cursors: Cursors, scope: string): string | null {
  const last = rows.at(-1);
  return more && last !== undefined ? cursors.encode(scope, last) : null;
}

/** Reads the rows of a page by their ids. Returns them in the page's order, without deleted ones. */
export async function readRows<Row extends { id: string }>({ rows }: SizedPage, read: (ids: string[]) => Promise<Row[]>): Promise<Row[]> {
  if (rows.length === 0) return [];
  const byId = new Map((await read(rows.map(({ id }) => id))).map((row) => [row.id, row]));
  return rows.flatMap(({ id }) => byId.get(id) ?? []);
}

/** The row after which the next page begins. */
interface Position<At extends SortKey> {
  at: At;
  id: string;
}

/**
 * Opaque, signed cursors. Each is bound to a scope, such as `jobs:<organizationId>`: one issued to another tenant
 * or by another list is refused as BAD_REQUEST, like anything else that this service did not issue.
 */
export interface Cursors {
  /** A text keeps its first {@link maxTextBytes}. */
  encode(scope: string, position: Position<SortKey>): string;
  /** Of a list that is ordered by a time. */
  decode(scope: string, cursor: string): Position<Date>;
  /** Of a list that is ordered by a number or a text. */
  decodeText(scope: string, cursor: string): Position<string>;
}

const macBytes = 16;
/** With an id of 36 bytes, the cursor has 200 characters then: the contract takes no longer one. */
export const maxTextBytes = 95;

/** Creates cursors that are signed with `key`. Those that were signed with a previous one are good, too. */
export function createCursors(...[key, ...previous]: [Buffer, ...Buffer[]]): Cursors {
  const sign = (scope: string, payload: string, by = key) =>
    createHmac('sha256', by).update(`${scope}\n${payload}`).digest().subarray(0, macBytes);
  const cursors: Cursors = {
    encode(scope, { at, id }) {
      const payload = `${at instanceof Date ? at.getTime().toString(36) : cutText(String(at))}.${id}`;
      return `${Buffer.from(payload).toString('base64url')}.${sign(scope, payload).toString('base64url')}`;
    },
    decode(scope, cursor) {
      const { at, id } = cursors.decodeText(scope, cursor);
      return { at: new Date(Number.parseInt(at, 36)), id };
    },
    decodeText(scope, cursor) {
      const [encoded = '', mac = ''] = cursor.split('.');
      const payload = Buffer.from(encoded, 'base64url').toString();
      const given = Buffer.from(mac, 'base64url');
      const separator = payload.lastIndexOf('.');
      const issued = given.length === macBytes && [key, ...previous].some((each) => timingSafeEqual(given, sign(scope, payload, each)));
      // The same bytes have several spellings in Base64; only the issued one is accepted.
      const canonical = cursor === `${Buffer.from(payload).toString('base64url')}.${given.toString('base64url')}`;
      if (!issued || !canonical || separator < 1) throw badCursor();
      return { at: payload.slice(0, separator), id: payload.slice(separator + 1) };
    },
  };
  return cursors;
}

/** The whole characters in the first {@link maxTextBytes} of a text. */
function cutText(text: string): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(Buffer.from(text).subarray(0, maxTextBytes), { stream: true });
}

function badCursor(): ApiError {
  const message = 'The cursor was not issued by this list in this order.';
  return new ApiError('BAD_REQUEST', { message, data: { issues: [{ path: ['cursor'], message }] } });
}
