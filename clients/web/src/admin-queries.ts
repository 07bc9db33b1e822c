import type { Contract, OutputOf } from '@sheaf/client';
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { adminAuth } from './admin-auth.ts';
import { ask, service } from './service.ts';

type OrganizationPage = OutputOf<Contract['admin']['organizations']['list']>;
export type ListedOrganization = OrganizationPage['items'][number];
export type Flag = OutputOf<Contract['admin']['flags']['list']>[number];
export type SystemStatus = OutputOf<Contract['admin']['system']['status']>;
export type Outage = OutputOf<Contract['admin']['system']['outages']>['items'][number];
export type Stuck = OutputOf<Contract['admin']['system']['stuck']>;

const pageSize = 25;

/** The organizations whose name or slug has a text, by name, a page at a time. */
export const allOrganizationsQuery = (search: string | undefined) =>
  infiniteQueryOptions({
    queryKey: ['admin', 'organizations', search],
    queryFn: ({ pageParam: offset, signal }) =>
      service.admin.organizations.list({ ...(search ? { search } : {}), limit: pageSize, offset }, { signal }),
    initialPageParam: 0,
    getNextPageParam: ({ total }, _pages, offset) => (offset + pageSize < total ? offset + pageSize : undefined),
  });

/** The users whose name or address has a text, the newest first, a page at a time. */
export const usersQuery = (search: string | undefined, searchField: 'name' | 'email') =>
  infiniteQueryOptions({
    queryKey: ['admin', 'users', search, searchField],
    queryFn: ({ pageParam: offset }) => listUsers({ ...(search ? { searchValue: search, searchField } : {}), offset }),
    initialPageParam: 0,
    getNextPageParam: ({ total }, _pages, offset) => (offset + pageSize < total ? offset + pageSize : undefined),
  });

const listUsers = (query: { searchValue?: string; searchField?: 'name' | 'email'; offset: number }) =>
  ask(adminAuth.admin.listUsers({ query: { ...query, limit: pageSize, sortBy: 'createdAt', sortDirection: 'desc' } }));

export type ListedUser = Awaited<ReturnType<typeof listUsers>>['users'][number];

export const flagsQuery = queryOptions({
  queryKey: ['admin', 'flags'],
  queryFn: ({ signal }) => service.admin.flags.list(undefined, { signal }),
});

export const systemQuery = queryOptions({
  queryKey: ['admin', 'system'],
  queryFn: ({ signal }) => service.admin.system.status(undefined, { signal }),
});

export const outagesQuery = queryOptions({
  queryKey: ['admin', 'outages'],
  queryFn: ({ signal }) => service.admin.system.outages(undefined, { signal }),
});

export const stuckQuery = queryOptions({
  queryKey: ['admin', 'stuck'],
  queryFn: ({ signal }) => service.admin.system.stuck(undefined, { signal }),
});
