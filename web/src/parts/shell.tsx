import {
  ActionIcon,
  Alert,
  Anchor,
  AppShell,
  Burger,
  Button,
  Group,
  NativeSelect,
  Text,
  useComputedColorScheme,
  useMantineColorScheme,
} from '@mantine/core';
import { useDisclosure, useHotkeys, useNetwork } from '@mantine/hooks';
import { useMutation, useQuery } from '@tanstack/react-query';
import { getRouteApi, Outlet, useNavigate } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { useLiveJobs } from '../jobs.ts';
import { type PageLink, pagesFor } from '../navigation.ts';
import { leave, organizationsQuery, slugsOf, workspacesQuery } from '../queries.ts';
import { ask, auth } from '../service.ts';
import { t } from '../text.ts';
import { Failure } from './failure.tsx';
import { LanguageChoice } from './language-choice.tsx';
import { NavTo } from './link-to.tsx';
import { SessionEnded } from './session-ended.tsx';

const route = getRouteApi('/o/$organization/$workspace');

/** The frame of a workspace's pages. */
export default function Shell() {
  const [opened, { toggle, close }] = useDisclosure();
  const { online } = useNetwork();
  useLiveJobs(route.useRouteContext());
  return (
    <AppShell
      header={{ height: 56 }}
      navbar={{ width: 220, breakpoint: 'sm', collapsed: { mobile: !opened } }}
      padding={{ base: 'md', sm: 'xl' }}
    >
      <a className="skip" href="#content">
        {t.common.skip}
      </a>
      <AppShell.Header px="md">
        <Group h="100%" justify="space-between" wrap="nowrap">
          <Group gap="sm" wrap="nowrap">
            <Burger opened={opened} onClick={toggle} hiddenFrom="sm" size="sm" aria-label={t.nav.menu} aria-expanded={opened} />
            <Text fw={700} size="lg">
              {t.common.product}
            </Text>
          </Group>
          <Group gap="xs" wrap="nowrap">
            <GoTo />
            <WorkspaceChoice />
            <ColorChoice />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="sm" aria-label={t.nav.label}>
        <Navigation onNavigate={close} />
      </AppShell.Navbar>
      <AppShell.Main id="content">
        {!online && (
          <Alert variant="default" mb="md" role="status">
            {t.common.offline}
          </Alert>
        )}
        <div className="page">
          <Content />
        </div>
      </AppShell.Main>
      <SessionEnded />
    </AppShell>
  );
}

function Navigation({ onNavigate }: { onNavigate: () => void }) {
  const { user, ...place } = route.useRouteContext();
  const params = slugsOf(place);
  const { mutate, isPending, error } = useMutation({ mutationFn: () => ask(auth.signOut()), onSuccess: () => leave('/sign-in') });
  const pages = pagesFor(place);
  const toNav = (page: PageLink) => <NavTo key={page.to} {...page} params={params} onClick={onNavigate} />;
  return (
    <>
      <AppShell.Section grow className="navigation">
        {pages.workspace.map(toNav)}
        <Text size="xs" c="dimmed" fw={600} px="sm" pt="md" pb={4} className="foreign">
          {place.organization.name}
        </Text>
        {pages.organization.map(toNav)}
        {pages.platform.length > 0 && (
          <Text size="xs" c="dimmed" fw={600} px="sm" pt="md" pb={4}>
            {t.nav.platform}
          </Text>
        )}
        {pages.platform.map(toNav)}
      </AppShell.Section>
      <AppShell.Section pt="sm">
        <Failure error={error} />
        <NavTo
          to="/o/$organization/$workspace/account"
          params={params}
          label={t.nav.account}
          description={user.email}
          onClick={onNavigate}
        />
        <Button variant="subtle" fullWidth justify="flex-start" px="sm" loading={isPending} onClick={() => mutate()}>
          {t.nav.signOut}
        </Button>
        <LanguageChoice fullWidth justify="flex-start" px="sm" />
      </AppShell.Section>
    </>
  );
}

/** The page; in its place that the user is no longer a member, once that is known. */
function Content() {
  const { organization } = route.useRouteContext();
  const { data = [organization] } = useQuery(organizationsQuery);
  if (data.some(({ id }) => id === organization.id)) return <Outlet />;
  return (
    <Alert variant="default" role="alert" title={t.nav.removed(organization.name)}>
      <Anchor href="/">{t.common.home}</Anchor>
    </Alert>
  );
}

/** The workspaces of this organization, and the user's other organizations. */
function WorkspaceChoice() {
  const { organization, workspace } = route.useRouteContext();
  const { data: workspaces = [workspace] } = useQuery(workspacesQuery(organization.id));
  const { data: organizations = [organization] } = useQuery(organizationsQuery);
  const navigate = useNavigate();
  const goTo = (value: string) => {
    const [slug = '', chosen] = value.split('/');
    if (chosen === undefined) return navigate({ to: '/o/$organization', params: { organization: slug } });
    return navigate({ to: '/o/$organization/$workspace/documents', params: { organization: slug, workspace: chosen } });
  };
  const here = {
    group: organization.name,
    items: workspaces.map(({ slug, name }) => ({ value: `${organization.slug}/${slug}`, label: name })),
  };
  const others = organizations.filter(({ id }) => id !== organization.id).map(({ slug, name }) => ({ value: slug, label: name }));
  return (
    <NativeSelect
      size="xs"
      aria-label={t.nav.workspace}
      className="workspace-choice"
      data={others.length === 0 ? here.items : [here, { group: t.nav.others, items: others }]}
      value={`${organization.slug}/${workspace.slug}`}
      onChange={({ currentTarget: { value } }) => void goTo(value)}
    />
  );
}

const Palette = lazy(() => import('./palette.tsx'));

/** The palette of commands, by its button or by the keys that people know for it. */
function GoTo() {
  const [opened, { open, close }] = useDisclosure();
  useHotkeys([['mod+K', open]], []);
  return (
    <>
      <Button size="xs" variant="default" visibleFrom="sm" onClick={open} aria-keyshortcuts="Control+K Meta+K">
        {t.palette.open}
      </Button>
      <Suspense>{opened && <Palette onClose={close} />}</Suspense>
    </>
  );
}

function ColorChoice() {
  const { setColorScheme } = useMantineColorScheme();
  const isDark = useComputedColorScheme('light') === 'dark';
  return (
    <ActionIcon
      variant="default"
      size={30}
      aria-label={isDark ? t.nav.light : t.nav.dark}
      title={isDark ? t.nav.light : t.nav.dark}
      onClick={() => setColorScheme(isDark ? 'light' : 'dark')}
    >
      <svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true">
        <circle cx="8" cy="8" r="6" fill="none" stroke="currentColor" strokeWidth="1.5" />
        <path d="M8 2a6 6 0 0 1 0 12z" fill="currentColor" />
      </svg>
    </ActionIcon>
  );
}
