import { type RawBuilder, sql } from 'kysely';

/** With what documents are indexed: what embeds their chunks, and how their text is cut. Only vectors of one kind are compared. */
export interface IndexKind {
  model: string;
  dimensions: number;
  /** Of `chunkingOf`. */
  chunking: string;
}

/** Whether vectors of the two kinds can be compared. */
export function isSameKind(one: IndexKind, other: IndexKind): boolean {
  return one.model === other.model && one.dimensions === other.dimensions && one.chunking === other.chunking;
}

/** Whether a row of a table that has these columns is of another kind. */
export function isOtherKind(table: string, { model, dimensions, chunking }: IndexKind): RawBuilder<boolean> {
  const column = (name: string) => sql.ref(`${table}.${name}`);
  return sql`(${column('model')}, ${column('dimensions')}, ${column('chunking')}) is distinct from (${model}::text, ${dimensions}::int, ${chunking}::text)`;
}
