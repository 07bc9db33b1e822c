import { type RawBuilder, sql } from 'kysely';
import type { DocumentStatus } from '../../db/schema.ts';
import { nameKeyOf } from './document-order.ts';
import { type Labels, labelKeysOf } from './labels.ts';

/** A filter on the documents of a workspace: they must meet all conditions. An absent field does not filter. */
export interface DocumentFilter {
  ids?: string[] | undefined;
  contentTypes?: string[] | undefined;
  status?: DocumentStatus | undefined;
  /** A part of the name, whatever the case. */
  name?: string | undefined;
  /** A range of times that includes the first and excludes the second. */
  created?: [from: Date | undefined, to: Date | undefined] | undefined;
  indexed?: [from: Date | undefined, to: Date | undefined] | undefined;
  /** Tags of which a document must have all. */
  tags?: string[] | undefined;
  /** Fields that must have exactly these values. Lists are not allowed; an object stands for fields of the object with the same key. */
  metadata?: Labels['metadata'] | undefined;
}

/** The conditions of a filter on documents of a workspace, for a `where`; `table` is the name that the query has for documents. */
export function documentConditions(workspaceId: string, filter: DocumentFilter, table = 'document'): RawBuilder<boolean> {
  const column = (name: string) => sql.ref(`${table}.${name}`);
  const { ids, contentTypes, status, name, tags = [], metadata = {} } = filter;
  const keys = labelKeysOf(workspaceId, { tags, metadata });
  const conditions = [
    sql`${column('workspace_id')} = ${workspaceId}`,
    ...(ids ? [sql`${column('id')} = any(${ids}::text[])`] : []),
    ...(contentTypes ? [isOneOf(column('content_type'), contentTypes)] : []),
    ...(status ? [sql`${column('status')} = ${status}`] : []),
    ...(name === undefined ? [] : [sql`strpos(${nameKeyOf(column('name'))}, ${nameKeyOf(sql`${name}::text`)}) > 0`]),
    ...isWithin(column('created_at'), filter.created),
    ...isWithin(column('indexed_at'), filter.indexed),
    ...(keys.length > 0 ? [sql`${column('labels')} @> ${keys}::bigint[]`] : []),
    ...(tags.length > 0 ? [sql`${column('tags')} @> ${tags}::text[]`] : []),
    ...(Object.keys(metadata).length > 0 ? [sql`${column('metadata')}::jsonb @> ${JSON.stringify(metadata)}::jsonb`] : []),
  ];
  return sql<boolean>`(${sql.join(conditions, sql` and `)})`;
}

/** A single value makes an equation, since its index then returns rows in order. */
function isOneOf(column: RawBuilder<unknown>, values: string[]): RawBuilder<unknown> {
  return values.length === 1 ? sql`${column} = ${values[0]}` : sql`${column} = any(${values}::text[])`;
}

function isWithin(column: RawBuilder<unknown>, times: DocumentFilter['created']): RawBuilder<unknown>[] {
  const [from, to] = times ?? [];
  return [...(from ? [sql`${column} >= ${from}`] : []), ...(to ? [sql`${column} < ${to}`] : [])];
}
