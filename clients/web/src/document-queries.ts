import type { ContentType, Document } from '@sheaf/client';
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import type { Place } from './queries.ts';
import { service } from './service.ts';

interface ListFilter {
  status?: Document['status'];
  /** Only documents that have all of them. */
  tag?: string[];
  contentType?: ContentType;
}

/** The documents of a workspace that meet every filter, newest first, a page at a time. */
export function documentsQuery({ organization, workspace }: Place, filter: ListFilter) {
  const input = { workspaceId: workspace.id, organizationId: organization.id, ...filter };
  return infiniteQueryOptions({
    queryKey: ['documents', workspace.id, filter],
    queryFn: ({ pageParam, signal }) => service.documents.list({ ...input, ...(pageParam ? { cursor: pageParam } : {}) }, { signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
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
