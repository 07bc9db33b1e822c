import { type RawBuilder, sql } from 'kysely';
import type { DocumentSort } from '../../contract/documents.ts';
import { type Cursors, maxTextBytes } from '../page.ts';

/**
 * The expression of an index (0033-document-order.ts). It needs no collation of the system, whose updates break indexes. NFD makes a mark a
 * character of its own, so that `Ä` stands after `Az` and before `B`.
 */
export const nameKeyOf = (name: RawBuilder<unknown>) => sql`lower(normalize(${name}, nfd) collate pg_c_utf8)`;
const nameKey = nameKeyOf(sql`name`);

const keys = { createdAt: sql`created_at`, name: nameKey, size: sql`size_bytes` };

/** An order of documents: by `key` and id, both in one direction. */
interface DocumentOrder {
  by: keyof typeof keys;
  key: RawBuilder<unknown>;
  direction: 'asc' | 'desc';
}

export function orderOf(sort: DocumentSort): DocumentOrder {
  const by = sort.replace('-', '') as keyof typeof keys;
  return { by, key: keys[by], direction: sort.startsWith('-') ? 'desc' : 'asc' };
}

/** The condition of the rows after a cursor. Throws BAD_REQUEST if the cursor was not issued for this scope. */
export function isAfter({ by, key, direction }: DocumentOrder, cursors: Cursors, scope: string, cursor: string): RawBuilder<boolean> {
  const { at, id } = by === 'createdAt' ? cursors.decode(scope, cursor) : cursors.decodeText(scope, cursor);
  const last = by === 'name' ? wholeName(String(at), id, direction) : at;
  return sql`(${key}, id) ${sql.raw(direction === 'asc' ? '>' : '<')} (${last}, ${id})`;
}

/** The name of a cursor, whose end the cursor may lack. If its document is gone or renamed, names that begin like it are repeated. */
function wholeName(name: string, id: string, direction: DocumentOrder['direction']): unknown {
  // A cut leaves up to three bytes of a character out.
  if (Buffer.byteLength(name) < maxTextBytes - 3) return name;
  const first = direction === 'asc' ? name : `${name}\u{10ffff}`;
  return sql`coalesce((select ${nameKey} from document where id = ${id} and starts_with(${nameKey}, ${name})), ${first})`;
}
