import { type ContentType, type Contract, type Document, type InputOf, SheafError } from '@sheaf/client';
import { hashKey, infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import type { Place } from './queries.ts';
import { service } from './service.ts';

export type DocumentSort = NonNullable<InputOf<Contract['documents']['list']>['sort']>;

interface ListFilter {
  status?: Document['status'];
  /** A part of the name. */
  name?: string;
  /** Only documents that have all of them. */
  tag?: string[];
  contentType?: ContentType;
}

/** The documents of a workspace that meet every filter, newest first unless sorted otherwise, a page at a time. */
export function documentsQuery({ organization, workspace }: Place, filter: ListFilter, sort?: DocumentSort) {
  const input = { workspaceId: workspace.id, organizationId: organization.id, ...filter, ...(sort && { sort }) };
  const queryKey = ['documents', workspace.id, filter, sort];
  const isSameList = (before: readonly unknown[] = []) => hashKey(before.slice(0, 3)) === hashKey(queryKey.slice(0, 3));
  return infiniteQueryOptions({
    queryKey,
    queryFn: ({ pageParam, signal }) => service.documents.list({ ...input, ...(pageParam ? { cursor: pageParam } : {}) }, { signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
    // The same documents in another order stay until this one is there, and with them the head that has the focus.
    placeholderData: (shown, query) => (isSameList(query?.queryKey) ? shown : undefined),
  });
}

/** What was deleted by somebody else meanwhile is no failure. */
export async function unlessGone(change: Promise<unknown>): Promise<void> {
  await change.catch((error: unknown) => {
    if (!(error instanceof SheafError && error.is('NOT_FOUND'))) throw error;
  });
}

export const documentQuery = (id: string) =>
  queryOptions({ queryKey: ['document', id], queryFn: ({ signal }) => service.documents.get({ id }, { signal }) });

/** The text of a document, or of one of its pages, by the time at which it was read. */
export const textQuery = (id: string, page: number | undefined, readAt: string) =>
  queryOptions({
    queryKey: ['text', id, page, readAt],
    queryFn: ({ signal }) => service.documents.text({ id, ...(page ? { page } : {}) }, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
