import { type RawBuilder, sql } from 'kysely';
import type { DocumentStatus } from '../../db/schema.ts';
import { type Labels, labelKeysOf } from './labels.ts';

/** Which documents of a workspace are wanted: those that meet all conditions. What is absent does not narrow. */
export interface DocumentFilter {
  ids?: string[] | undefined;
  contentTypes?: string[] | undefined;
  status?: DocumentStatus | undefined;
  /** Times from the first, and before the second. */
  created?: [from: Date | undefined, to: Date | undefined] | undefined;
  indexed?: [from: Date | undefined, to: Date | undefined] | undefined;
  /** All of them. */
  tags?: string[] | undefined;
  /** Fields with exactly these values, without lists; an object names fields of the object in its place. */
  metadata?: Labels['metadata'] | undefined;
}

/** The conditions of a filter on documents of a workspace, for a `where`; `table` is the name that the query has for documents. */
export function documentConditions(workspaceId: string, filter: DocumentFilter, table = 'document'): RawBuilder<boolean> {
  const column = (name: string) => sql.ref(`${table}.${name}`);
  const { ids, contentTypes, status, tags = [], metadata = {} } = filter;
  const keys = labelKeysOf(workspaceId, { tags, metadata });
  const conditions = [
    sql`${column('workspace_id')} = ${workspaceId}`,
    ...(ids ? [sql`${column('id')} = any(${ids}::text[])`] : []),
    ...(contentTypes ? [isOneOf(column('content_type'), contentTypes)] : []),
    ...(status ? [sql`${column('status')} = ${status}`] : []),
    ...isWithin(column('created_at'), filter.created),
    ...isWithin(column('indexed_at'), filter.indexed),
    ...(keys.length > 0 ? [sql`${column('labels')} @> ${keys}::bigint[]`] : []),
    ...(tags.length > 0 ? [sql`${column('tags')} @> ${tags}::text[]`] : []),
    ...(Object.keys(metadata).length > 0 ? [sql`${column('metadata')}::jsonb @> ${JSON.stringify(metadata)}::jsonb`] : []),
  ];
  return sql<boolean>`(${sql.join(conditions, sql` and `)})`;
}

/** With one value as an equation, which an index answers in its order. */
function isOneOf(column: RawBuilder<unknown>, values: string[]): RawBuilder<unknown> {
  return values.length === 1 ? sql`${column} = ${values[0]}` : sql`${column} = any(${values}::text[])`;
}

function isWithin(column: RawBuilder<unknown>, times: DocumentFilter['created']): RawBuilder<unknown>[] {
  const [from, to] = times ?? [];
  return [...(from ? [sql`${column} >= ${from}`] : []), ...(to ? [sql`${column} < ${to}`] : [])];
}
