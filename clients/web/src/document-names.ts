import { useQueries, useQuery } from '@tanstack/react-query';
import { documentQuery } from './document-queries.ts';
import type { ListedJob } from './jobs.ts';
import { type Place, queryClient } from './queries.ts';
import { service } from './service.ts';

/** How long the document of a new job may go without its name. */
const refreshMs = 2_000;

/** The names of the newest documents of a workspace, and of those that were the newest before. */
const newestNames = ({ organization, workspace }: Place) => {
  const queryKey = ['documents', workspace.id, 'names'];
  return {
    queryKey,
    queryFn: async (): Promise<Record<string, string>> => {
      const { items } = await service.documents.list({ organizationId: organization.id, workspaceId: workspace.id, limit: 200 });
      return { ...queryClient.getQueryData(queryKey), ...Object.fromEntries(items.map(({ id, name }) => [id, name])) };
    },
    staleTime: 300_000,
  };
};

/**
 * The names of the documents of jobs; undefined as long as one is not known. While thousands come in, a list of the newest is read every
 * two seconds; only others are asked for one by one.
 */
export function useDocumentNames(place: Place, jobs: ListedJob[]): (id: string) => string | undefined {
  // The oldest job of each: a document was there before.
  const begunAt = new Map(jobs.flatMap(({ documentId, createdAt }) => (documentId ? [[documentId, Date.parse(createdAt)]] : [])));
  const isNewer = (id: string, readAt: number) => (begunAt.get(id) ?? 0) > readAt;
  const ids = [...begunAt.keys()];
  const newest = useQuery({
    ...newestNames(place),
    refetchInterval: ({ state: { data, dataUpdatedAt, error } }) =>
      !error && ids.some((id) => data && !(id in data) && isNewer(id, dataUpdatedAt)) && refreshMs,
  });
  const others = ids.filter((id) => newest.data && !(id in newest.data) && !isNewer(id, newest.dataUpdatedAt));
  const found = useQueries({ queries: others.map((id) => ({ ...documentQuery(id), staleTime: 300_000 })) });
  const names = new Map(others.map((id, index) => [id, found[index]?.data?.name]));
  return (id) => newest.data?.[id] ?? names.get(id);
}
