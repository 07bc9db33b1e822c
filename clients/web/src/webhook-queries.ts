import type { Contract, OutputOf } from '@sheaf/client';
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { service } from './service.ts';

export type Endpoint = OutputOf<Contract['webhooks']['list']>[number];
export type Delivery = OutputOf<Contract['webhooks']['delivery']>;
export type DeliveryStatus = Delivery['status'];

/** How often deliveries that wait are looked at. */
const lookAgainMs = 2_000;

export const endpointsQuery = (organizationId: string) =>
  queryOptions({
    queryKey: ['webhooks', organizationId],
    queryFn: ({ signal }) => service.webhooks.list({ organizationId }, { signal }),
  });

export const endpointQuery = (id: string) =>
  queryOptions({ queryKey: ['webhooks', 'endpoint', id], queryFn: ({ signal }) => service.webhooks.get({ id }, { signal }) });

/** What was sent to an endpoint, newest first, a page at a time. Looks again by itself while some wait. */
export function deliveriesQuery(organizationId: string, endpointId: string, status: DeliveryStatus | undefined) {
  const input = { organizationId, endpointId, ...(status ? { status } : {}) };
  return infiniteQueryOptions({
    queryKey: ['deliveries', endpointId, status],
    queryFn: ({ pageParam, signal }) => service.webhooks.deliveries({ ...input, ...(pageParam ? { cursor: pageParam } : {}) }, { signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
    refetchInterval: ({ state: { data, error } }) =>
      !error && data?.pages.some(({ items }) => items.some((each) => each.status === 'pending')) ? lookAgainMs : false,
  });
}
