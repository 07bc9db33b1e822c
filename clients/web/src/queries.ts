import { SheafError, type Workspace } from '@sheaf/client';
import { MutationCache, QueryCache, QueryClient, queryOptions } from '@tanstack/react-query';
import type { adminAuth } from './admin-auth.ts';
import { roleIn } from './roles.ts';
import { ask, auth, service } from './service.ts';
import { createStore } from './store.ts';

/** Whether the service has refused a call of somebody who was signed in. */
export const sessionEnded = createStore(false);

/** Who is signed in, or was last: what the page shows is theirs, also once it is known that their session has ended. */
export const lastUser = createStore<User | undefined>(undefined);

const onError = (error: Error) => {
  if (!(error instanceof SheafError)) return;
  // A wrong code of a second factor is 401, too.
  if (error.code === 'UNAUTHORIZED' && lastUser.get()) sessionEnded.set(true);
  const isStopped = error.code === 'ORGANIZATION_SUSPENDED' || (error.is('SERVICE_UNAVAILABLE') && error.data);
  if (!isStopped && error.status !== 403) return;
  // Whoever has been removed, or has another role now, is to see that. A query that is refused for the same reason itself
  // must not be named here: it would be asked again without end.
  const changed = isStopped ? ['stopped', 'admin'] : ['organizations', 'role'];
  for (const name of changed) void queryClient.invalidateQueries({ queryKey: [name] });
};

/** The client repeats what may be repeated itself. */
export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError }),
  mutationCache: new MutationCache({ onError }),
  defaultOptions: { queries: { retry: false, staleTime: 10_000 }, mutations: { networkMode: 'always' } },
});

/** How long a page takes organizations and workspaces for known: every one asks for them, and they seldom change. */
const placesMs = 300_000;

type Session = typeof auth.$Infer.Session & typeof adminAuth.$Infer.Session;
export type User = Session['user'];

export interface Organization {
  id: string;
  name: string;
  slug: string;
  createdAt: Date | string;
}

export interface Place {
  organization: Organization;
  workspace: Workspace;
  /** Whether the user is an owner or an admin of the organization. */
  isAdmin: boolean;
  isOwner: boolean;
  /** Whether the user runs the deployment. */
  isPlatformAdmin: boolean;
}

/** The session of this browser; null if nobody is signed in. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: async () => {
    const session = (await ask(auth.getSession())) as Session | null;
    if (session) keepOnlyOf(session.user);
    return session;
  },
  staleTime: 60_000,
});

/** Clears the cache when another user signs in. */
function keepOnlyOf(user: User): void {
  if (lastUser.get()?.id !== user.id) queryClient.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' });
  lastUser.set(user);
}

export const authConfigQuery = queryOptions({
  queryKey: ['auth-config'],
  queryFn: () => service.system.authConfig(),
  staleTime: Number.POSITIVE_INFINITY,
});

/** The kinds of jobs and of documents that the deployment takes. */
export const jobKindsQuery = queryOptions({
  queryKey: ['job-kinds'],
  queryFn: () => service.system.jobKinds(),
  staleTime: Number.POSITIVE_INFINITY,
});

export const organizationsQuery = queryOptions({
  queryKey: ['organizations'],
  queryFn: (): Promise<Organization[]> => ask(auth.organization.list()),
  staleTime: placesMs,
});

export const workspacesQuery = (organizationId: string) =>
  queryOptions({
    queryKey: ['workspaces', organizationId],
    queryFn: () => service.workspaces.list({ organizationId }),
    staleTime: placesMs,
  });

/** The role of the user in the organization. */
export const roleQuery = (organizationId: string) =>
  queryOptions({
    queryKey: ['role', organizationId],
    queryFn: async () => roleIn((await ask(auth.organization.getActiveMemberRole({ query: { organizationId } }))).role),
    staleTime: placesMs,
  });

/** The credits of the last days, by kind. */
export const usageHistoryQuery = (organizationId: string) =>
  queryOptions({
    queryKey: ['usage', organizationId, 'history'],
    queryFn: ({ signal }) => service.organizations.usageHistory({ organizationId }, { signal }),
  });

export const apiKeysQuery = (organizationId: string) =>
  queryOptions({ queryKey: ['api-keys', organizationId], queryFn: ({ signal }) => service.apiKeys.list({ organizationId }, { signal }) });

/** Loads the console anew, so that nothing of a user stays in memory. */
export function leave(to: string): void {
  queryClient.clear();
  window.location.assign(to);
}

/** The parameters of a workspace's routes. */
export function slugsOf({ organization, workspace }: Pick<Place, 'organization' | 'workspace'>): {
  organization: string;
  workspace: string;
} {
  return { organization: organization.slug, workspace: workspace.slug };
}
