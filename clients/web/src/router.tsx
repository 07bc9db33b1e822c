import type { Document, Job } from '@sheaf/client';
import { useQuery } from '@tanstack/react-query';
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  notFound,
  Outlet,
  redirect,
} from '@tanstack/react-router';
import { lazy, type ReactNode, Suspense } from 'react';
import type { DocumentFilter } from './components/document-filter.tsx';
import { Failure } from './components/failure.tsx';
import { NotFound, NothingHere } from './components/not-found.tsx';
import { Waiting } from './components/waiting.tsx';
import { patiently } from './patiently.ts';
import { organizationsQuery, type Place, queryClient, roleQuery, sessionQuery, slugsOf, type User, workspacesQuery } from './queries.ts';
import { t } from './text.ts';

type Search = Record<string, unknown>;

interface SignInSearch {
  /** Where to go on. */
  next?: string | undefined;
  /** The code of a link that failed, or of a provider. */
  error?: string | undefined;
  said?: 'verified' | 'reset' | 'email' | 'deleted' | undefined;
}

interface DocumentSearch {
  /** From 1. */
  page?: number | undefined;
  /** A passage to mark: positions in the whole text, in code points. */
  start?: number | undefined;
  end?: number | undefined;
  /** Whether the original is shown beside the text. */
  original?: boolean | undefined;
}

const textOf = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined);
/** A text that somebody typed: one of digits is read as a number. */
const wordOf = (value: unknown) => textOf(typeof value === 'number' ? String(value) : value);
const positionOf = (value: unknown) => (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined);
const oneOf = <T extends string>(value: unknown, allowed: readonly T[]) => allowed.find((each) => each === value);

function wordsOf(value: unknown): string[] | undefined {
  const words = (Array.isArray(value) ? value : [value]).map(wordOf).filter((word) => word !== undefined);
  return words.length > 0 ? words : undefined;
}

interface DocumentListSearch extends DocumentFilter {
  status?: Document['status'] | undefined;
  /** A part of the name. */
  name?: string | undefined;
  sort?: string | undefined;
}

function filterOf({ tags, type }: Search): DocumentFilter {
  return { tags: wordsOf(tags), type: wordOf(type) };
}

const root = createRootRouteWithContext()({ component: Root });

const Impersonation = lazy(patiently(() => import('./components/impersonation.tsx')));

/** Every page, and over it that somebody acts in the name of another. Never asks again: the pages do, and say if the session has ended. */
function Root() {
  const { data } = useQuery({ ...sessionQuery, staleTime: Number.POSITIVE_INFINITY });
  return (
    <>
      <Outlet />
      <Suspense>{data?.session.impersonatedBy && <Impersonation name={data.user.name} email={data.user.email} />}</Suspense>
    </>
  );
}

/** Redirects to sign-in without a session, remembers the path, and says there how the link of a mail has ended. */
async function signedIn({ location: { href, search } }: { location: { href: string; search: Search } }) {
  const session = await queryClient.fetchQuery(sessionQuery);
  if (!session)
    throw redirect({ to: '/sign-in', search: { next: href, error: textOf(search.error), said: oneOf(search.said, ['email']) } });
  return { user: session.user };
}

const home = createRoute({
  getParentRoute: () => root,
  path: '/',
  validateSearch: (search: Search): { error?: string | undefined } => ({ error: textOf(search.error) }),
  // Where links of mails and failed sign-ins by a provider lead.
  beforeLoad: async ({ search: { error } }) => {
    const session = await queryClient.fetchQuery(sessionQuery);
    if (!session) throw redirect({ to: '/sign-in', search: { error } });
    for (const organization of await queryClient.fetchQuery(organizationsQuery)) {
      const [workspace] = await queryClient.fetchQuery(workspacesQuery(organization.id));
      if (workspace) throw redirect({ to: '/o/$organization/$workspace/documents', params: slugsOf({ organization, workspace }) });
    }
    throw redirect({ to: '/start' });
  },
});

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: (search: Search): SignInSearch => ({
    next: ownPath(search.next),
    error: textOf(search.error),
    said: oneOf(search.said, ['verified', 'reset', 'email', 'deleted']),
  }),
  component: lazyRouteComponent(patiently(() => import('./pages/sign-in.tsx'))),
});

const signUp = createRoute({
  getParentRoute: () => root,
  path: '/sign-up',
  validateSearch: (search: Search): Pick<SignInSearch, 'next'> => ({ next: ownPath(search.next) }),
  component: lazyRouteComponent(patiently(() => import('./pages/sign-up.tsx'))),
});

const forgotPassword = createRoute({
  getParentRoute: () => root,
  path: '/forgot-password',
  validateSearch: (search: Search): Pick<SignInSearch, 'next'> => ({ next: ownPath(search.next) }),
  component: lazyRouteComponent(patiently(() => import('./pages/forgot-password.tsx'))),
});

const resetPassword = createRoute({
  getParentRoute: () => root,
  path: '/reset-password',
  validateSearch: (search: Search): Pick<SignInSearch, 'next' | 'error'> & { token?: string | undefined } => ({
    token: textOf(search.token),
    next: ownPath(search.next),
    error: textOf(search.error),
  }),
  component: lazyRouteComponent(patiently(() => import('./pages/reset-password.tsx'))),
});

const twoFactor = createRoute({
  getParentRoute: () => root,
  path: '/two-factor',
  validateSearch: (search: Search): { callbackURL?: string | undefined } => ({ callbackURL: ownPath(search.callbackURL) }),
  component: lazyRouteComponent(patiently(() => import('./pages/two-factor.tsx'))),
});

const acceptInvitation = createRoute({
  getParentRoute: () => root,
  path: '/accept-invitation/$id',
  loader: () => queryClient.fetchQuery(sessionQuery),
  component: lazyRouteComponent(patiently(() => import('./pages/accept-invitation.tsx'))),
});

const start = createRoute({
  getParentRoute: () => root,
  path: '/start',
  beforeLoad: signedIn,
  // The organization that still needs its first workspace.
  loader: async () => {
    for (const organization of await queryClient.fetchQuery(organizationsQuery))
      if ((await queryClient.fetchQuery(workspacesQuery(organization.id))).length === 0) return organization;
    return undefined;
  },
  component: lazyRouteComponent(patiently(() => import('./pages/start.tsx'))),
});

/** Everything of a workspace. Its context is the place. */
const place = createRoute({
  getParentRoute: () => root,
  path: '/o/$organization/$workspace',
  beforeLoad: async ({ params, location }): Promise<Place & { user: User }> => {
    const { user } = await signedIn({ location });
    const organizations = await queryClient.fetchQuery(organizationsQuery);
    const organization = organizations.find(({ slug }) => slug === params.organization);
    if (!organization) throw notFound({ data: params.organization });
    const [workspaces, role] = await Promise.all([
      queryClient.fetchQuery(workspacesQuery(organization.id)),
      queryClient.fetchQuery(roleQuery(organization.id)),
    ]);
    const workspace = workspaces.find(({ slug }) => slug === params.workspace);
    if (!workspace) throw notFound();
    return { organization, workspace, isAdmin: role !== 'member', isOwner: role === 'owner', isPlatformAdmin: user.role === 'admin', user };
  },
  component: lazyRouteComponent(patiently(() => import('./components/shell.tsx'))),
});

const firstPage = createRoute({
  getParentRoute: () => place,
  path: '/',
  beforeLoad: ({ params }) => {
    throw redirect({ to: '/o/$organization/$workspace/documents', params });
  },
});

const noPage = createRoute({ getParentRoute: () => place, path: '$', component: NothingHere });

const documents = createRoute({
  getParentRoute: () => place,
  path: 'documents',
  validateSearch: (search: Search): DocumentListSearch => ({
    status: oneOf(search.status, ['ready', 'pending']),
    name: wordOf(search.name),
    sort: textOf(search.sort),
    ...filterOf(search),
  }),
  component: lazyRouteComponent(patiently(() => import('./pages/documents.tsx'))),
});

const documentPage = createRoute({
  getParentRoute: () => place,
  path: 'documents/$id',
  validateSearch: (search: Search): DocumentSearch => ({
    page: positionOf(search.page) || undefined,
    start: positionOf(search.start),
    end: positionOf(search.end),
    original: typeof search.original === 'boolean' ? search.original : undefined,
  }),
  component: lazyRouteComponent(patiently(() => import('./pages/document.tsx'))),
});

const jobs = createRoute({
  getParentRoute: () => place,
  path: 'jobs',
  validateSearch: (search: Search): { status?: Job['status'] | undefined; kind?: Job['kind'] | undefined } => ({
    kind: oneOf(search.kind, Object.keys(t.jobs.kinds) as Job['kind'][]),
    status: oneOf(search.status, ['queued', 'running', 'succeeded', 'failed', 'canceled']),
  }),
  component: lazyRouteComponent(patiently(() => import('./pages/jobs.tsx'))),
});

const job = createRoute({
  getParentRoute: () => place,
  path: 'jobs/$id',
  component: lazyRouteComponent(patiently(() => import('./pages/job.tsx'))),
});

const search = createRoute({
  getParentRoute: () => place,
  path: 'search',
  validateSearch: (search: Search): { q?: string | undefined; mode?: 'hybrid' | 'semantic' | 'lexical' | undefined } & DocumentFilter => ({
    q: wordOf(search.q),
    mode: oneOf(search.mode, ['hybrid', 'semantic', 'lexical']),
    ...filterOf(search),
  }),
  component: lazyRouteComponent(patiently(() => import('./pages/search.tsx'))),
});

const ask = createRoute({
  getParentRoute: () => place,
  path: 'ask',
  validateSearch: (search: Search): { q?: string | undefined; key?: string | undefined; before?: string[] | undefined } => ({
    q: wordOf(search.q),
    key: textOf(search.key),
    before: wordsOf(search.before),
  }),
  component: lazyRouteComponent(patiently(() => import('./pages/ask.tsx'))),
});

const usage = createRoute({
  getParentRoute: () => place,
  path: 'usage',
  component: lazyRouteComponent(patiently(() => import('./pages/usage.tsx'))),
});

const members = createRoute({
  getParentRoute: () => place,
  path: 'members',
  component: lazyRouteComponent(patiently(() => import('./pages/members.tsx'))),
});

const workspacesPage = createRoute({
  getParentRoute: () => place,
  path: 'workspaces',
  component: lazyRouteComponent(patiently(() => import('./pages/workspaces.tsx'))),
});

/** Without a part of the address. */
const forAdmins = createRoute({
  getParentRoute: () => place,
  id: 'admins',
  component: lazyRouteComponent(patiently(() => import('./components/for-admins.tsx'))),
});

const apiKeys = createRoute({
  getParentRoute: () => forAdmins,
  path: 'api-keys',
  component: lazyRouteComponent(patiently(() => import('./pages/api-keys.tsx'))),
});

const webhooks = createRoute({
  getParentRoute: () => forAdmins,
  path: 'webhooks',
  component: lazyRouteComponent(patiently(() => import('./pages/webhooks.tsx'))),
});

const webhook = createRoute({
  getParentRoute: () => forAdmins,
  path: 'webhooks/$id',
  validateSearch: (search: Search): { status?: 'pending' | 'delivered' | 'failed' | undefined } => ({
    status: oneOf(search.status, ['pending', 'delivered', 'failed']),
  }),
  component: lazyRouteComponent(patiently(() => import('./pages/webhook.tsx'))),
});

const audit = createRoute({
  getParentRoute: () => forAdmins,
  path: 'audit',
  validateSearch: (search: Search): { by?: string | undefined; of?: string | undefined } => ({
    by: textOf(search.by),
    of: textOf(search.of),
  }),
  component: lazyRouteComponent(patiently(() => import('./pages/audit.tsx'))),
});

const plan = createRoute({
  getParentRoute: () => forAdmins,
  path: 'plan',
  component: lazyRouteComponent(patiently(() => import('./pages/plan.tsx'))),
});

const mailbox = createRoute({
  getParentRoute: () => place,
  path: 'mailbox',
  beforeLoad: ({ context }) => {
    if (!context.isPlatformAdmin) throw notFound();
  },
  component: lazyRouteComponent(patiently(() => import('./pages/mailbox.tsx'))),
  notFoundComponent: NothingHere,
});

const account = createRoute({
  getParentRoute: () => place,
  path: 'account',
  // What links of mails and providers lead back with.
  validateSearch: (search: Search): { said?: 'email' | undefined; error?: string | undefined } => ({
    said: oneOf(search.said, ['email']),
    error: textOf(search.error),
  }),
  component: lazyRouteComponent(patiently(() => import('./pages/account.tsx'))),
});

/** An organization: the first of its workspaces. */
const organization = createRoute({
  getParentRoute: () => root,
  path: '/o/$organization',
  beforeLoad: async ({ params, location }) => {
    await signedIn({ location });
    const found = (await queryClient.fetchQuery(organizationsQuery)).find(({ slug }) => slug === params.organization);
    if (!found) throw notFound();
    const [first] = await queryClient.fetchQuery(workspacesQuery(found.id));
    if (!first) throw redirect({ to: '/start' });
    throw redirect({ to: '/o/$organization/$workspace/documents', params: slugsOf({ organization: found, workspace: first }) });
  },
});

/** Everything of platform admins; for all others there is nothing. */
const admin = createRoute({
  getParentRoute: () => root,
  path: '/admin',
  beforeLoad: async ({ location }): Promise<{ user: User }> => {
    const { user } = await signedIn({ location });
    if (user.role !== 'admin') throw notFound();
    return { user };
  },
  component: lazyRouteComponent(patiently(() => import('./components/admin-shell.tsx'))),
});

const adminFirstPage = createRoute({
  getParentRoute: () => admin,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/admin/system' });
  },
});

const adminNoPage = createRoute({ getParentRoute: () => admin, path: '$', component: NothingHere });

const adminSystem = createRoute({
  getParentRoute: () => admin,
  path: 'system',
  component: lazyRouteComponent(patiently(() => import('./pages/admin/system.tsx'))),
});

const adminOrganizations = createRoute({
  getParentRoute: () => admin,
  path: 'organizations',
  validateSearch: (search: Search): { q?: string | undefined } => ({ q: wordOf(search.q) }),
  component: lazyRouteComponent(patiently(() => import('./pages/admin/organizations.tsx'))),
});

const adminUsers = createRoute({
  getParentRoute: () => admin,
  path: 'users',
  validateSearch: (search: Search): { q?: string | undefined; by?: 'name' | 'email' | undefined } => ({
    q: wordOf(search.q),
    by: oneOf(search.by, ['name', 'email']),
  }),
  component: lazyRouteComponent(patiently(() => import('./pages/admin/users.tsx'))),
});

const adminFlags = createRoute({
  getParentRoute: () => admin,
  path: 'flags',
  component: lazyRouteComponent(patiently(() => import('./pages/admin/flags.tsx'))),
});

const tree = root.addChildren([
  home,
  signIn,
  signUp,
  forgotPassword,
  resetPassword,
  twoFactor,
  acceptInvitation,
  start,
  organization,
  admin.addChildren([adminFirstPage, adminSystem, adminOrganizations, adminUsers, adminFlags, adminNoPage]),
  place.addChildren([
    firstPage,
    documents,
    documentPage,
    jobs,
    job,
    search,
    ask,
    usage,
    members,
    workspacesPage,
    forAdmins.addChildren([apiKeys, webhooks, webhook, audit, plan]),
    mailbox,
    account,
    noPage,
  ]),
]);

export const router = createRouter({
  routeTree: tree,
  defaultPreload: 'intent',
  defaultPendingComponent: Waiting,
  // The page keeps its error until it is loaded again.
  defaultErrorComponent: ({ error }): ReactNode => <Failure error={error} retry={() => void router.invalidate()} />,
  defaultNotFoundComponent: NotFound,
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}

/** A path of this console: nothing leads elsewhere after signing in. */
function ownPath(value: unknown): string | undefined {
  const path = textOf(value);
  return path && /^\/(?![/\\])/.test(path) ? path : undefined;
}
