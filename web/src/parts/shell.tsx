import {
  ActionIcon,
  Alert,
  AppShell,
  Burger,
  Button,
  Group,
  NativeSelect,
  Text,
  useComputedColorScheme,
  useMantineColorScheme,
} from '@mantine/core';
import { useDisclosure, useNetwork } from '@mantine/hooks';
import { useMutation, useQuery } from '@tanstack/react-query';
import { getRouteApi, Outlet, useNavigate } from '@tanstack/react-router';
import { useLiveJobs } from '../jobs.ts';
import { queryClient, slugsOf, workspacesQuery } from '../queries.ts';
import { ask, auth } from '../service.ts';
import { t } from '../text.ts';
import { Failure } from './failure.tsx';
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
          <Outlet />
        </div>
      </AppShell.Main>
      <SessionEnded />
    </AppShell>
  );
}

function Navigation({ onNavigate }: { onNavigate: () => void }) {
  const { user, ...place } = route.useRouteContext();
  const params = slugsOf(place);
  const { mutate, isPending, error } = useMutation({ mutationFn: () => ask(auth.signOut()), onSuccess: leave });
  return (
    <>
      <AppShell.Section grow>
        <NavTo to="/o/$organization/$workspace/documents" params={params} label={t.nav.documents} onClick={onNavigate} />
        <NavTo to="/o/$organization/$workspace/jobs" params={params} label={t.nav.jobs} onClick={onNavigate} />
        <NavTo to="/o/$organization/$workspace/search" params={params} label={t.nav.search} onClick={onNavigate} />
        <NavTo to="/o/$organization/$workspace/usage" params={params} label={t.nav.usage} onClick={onNavigate} />
      </AppShell.Section>
      <AppShell.Section>
        <Failure error={error} />
        <Text size="xs" c="dimmed" px="sm" className="foreign">
          {user.email}
        </Text>
        <Button variant="subtle" fullWidth justify="flex-start" px="sm" loading={isPending} onClick={() => mutate()}>
          {t.nav.signOut}
        </Button>
      </AppShell.Section>
    </>
  );
}

/** Loads the console anew, so that nothing of a user stays in memory. */
function leave(): void {
  queryClient.clear();
  window.location.assign('/sign-in');
}

function WorkspaceChoice() {
  const { organization, workspace } = route.useRouteContext();
  const { data = [workspace] } = useQuery(workspacesQuery(organization.id));
  const navigate = useNavigate();
  return (
    <NativeSelect
      size="xs"
      aria-label={t.nav.workspace}
      className="workspace-choice"
      data={data.map(({ slug, name }) => ({ value: slug, label: name }))}
      value={workspace.slug}
      onChange={({ currentTarget: { value } }) =>
        navigate({ to: '/o/$organization/$workspace/documents', params: { organization: organization.slug, workspace: value } })
      }
    />
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
