import type { Cursors, Position } from './cursor.ts';

/** A page of a list, and the cursor of the next one; null where there is no more. */
export interface Page<Row> {
  items: Row[];
  nextCursor: string | null;
}

/** Cuts `limit + 1` rows, as read from the database, to a page: the one too many tells whether there is more. */
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
