import { type RawBuilder, sql } from 'kysely';

/**
 * The kind of an index: the model that embeds the chunks, and the way in which texts are cut. Only vectors of the same kind are compared.
 */
export interface IndexKind {
  model: string;
  dimensions: number;
  /** A name from `chunkingOf`. */
  chunking: string;
}

/** Whether vectors of the two kinds can be compared. */
export function isSameKind(one: IndexKind, other: IndexKind): boolean {
  return one.model === other.model && one.dimensions === other.dimensions && one.chunking === other.chunking;
}

/** A condition: whether a row of a table with these columns is of another kind. */
export function isOtherKind(table: string, { model, dimensions, chunking }: IndexKind): RawBuilder<boolean> {
  const column = (name: string) => sql.ref(`${table}.${name}`);
  return sql`(${column('model')}, ${column('dimensions')}, ${column('chunking')}) is distinct from (${model}::text, ${dimensions}::int, ${chunking}::text)`;
}
