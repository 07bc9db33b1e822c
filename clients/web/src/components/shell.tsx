import { Alert, Anchor, AppShell, Button, Menu, NativeSelect, Text } from '@mantine/core';
import { useDisclosure, useHotkeys } from '@mantine/hooks';
import IconBuilding from '@tabler/icons-react/icons/IconBuilding';
import IconLock from '@tabler/icons-react/icons/IconLock';
import IconSearch from '@tabler/icons-react/icons/IconSearch';
import IconServerCog from '@tabler/icons-react/icons/IconServerCog';
import IconUserCircle from '@tabler/icons-react/icons/IconUserCircle';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { getRouteApi, Outlet, useNavigate } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { useLiveJobs } from '../jobs.ts';
import { type PageLink, pagesFor } from '../navigation.ts';
import { patiently } from '../patiently.ts';
import { organizationsQuery, slugsOf, workspacesQuery } from '../queries.ts';
import { service } from '../service.ts';
import { formatDay, t } from '../text.ts';
import { AccountMenu } from './account-menu.tsx';
import { Banner, ReadOnly } from './banner.tsx';
import { Crumbs } from './crumbs.tsx';
import { Foreign } from './foreign.tsx';
import { Frame } from './frame.tsx';
import { NavTo } from './link-to.tsx';

const route = getRouteApi('/o/$organization/$workspace');

/** Why nothing can be changed: the organization is suspended, or the deployment is read-only. */
const stoppedQuery = (organizationId: string) =>
  queryOptions({
    queryKey: ['stopped', organizationId],
    queryFn: async ({ signal }) => {
      const { suspension, readOnly } = await service.organizations.usage({ organizationId }, { signal });
      return { suspension, readOnly };
    },
    staleTime: 60_000,
  });

/** The frame of a workspace's pages. */
export default function Shell() {
  useLiveJobs(route.useRouteContext());
  return (
    <Frame
      brand={<WorkspaceChoice />}
      crumbs={<Crumbs />}
      tools={<GoTo />}
      navigation={(onNavigate) => <Navigation onNavigate={onNavigate} />}
    >
      <Content />
    </Frame>
  );
}

function Navigation({ onNavigate }: { onNavigate: () => void }) {
  const { user, ...place } = route.useRouteContext();
  const params = slugsOf(place);
  const pages = pagesFor(place);
  const navigate = useNavigate();
  const toNav = ({ to, label, Icon, lacks }: PageLink) => (
    <NavTo
      key={to}
      to={to}
      label={label}
      leftSection={<Icon size={18} aria-hidden />}
      rightSection={lacks && <IconLock size={14} role="img" aria-label={t.lacks.locked} />}
      params={params}
      onClick={onNavigate}
    />
  );
  const toAccount = () => {
    onNavigate();
    void navigate({ to: '/o/$organization/$workspace/account', params });
  };
  return (
    <>
      <AppShell.Section grow className="navigation">
        {pages.workspace.map(toNav)}
        <Foreign size="xs" c="dimmed" fw={600} px="sm" pt="md" pb={4}>
          {place.organization.name}
        </Foreign>
        {pages.organization.map(toNav)}
        {pages.platform.length > 0 && (
          <Text size="xs" c="dimmed" fw={600} px="sm" pt="md" pb={4}>
            {t.nav.platform}
          </Text>
        )}
        {place.isPlatformAdmin && (
          <NavTo to="/admin/system" label={t.admin.title} leftSection={<IconServerCog size={18} aria-hidden />} onClick={onNavigate} />
        )}
        {pages.platform.map(toNav)}
      </AppShell.Section>
      <AppShell.Section pt="sm">
        <AccountMenu user={user}>
          <Menu.Item leftSection={<IconUserCircle size={16} aria-hidden />} onClick={toAccount}>
            {t.nav.account}
          </Menu.Item>
          <Menu.Item leftSection={<IconBuilding size={16} aria-hidden />} onClick={() => void navigate({ to: '/start' })}>
            {t.nav.newOrganization}
          </Menu.Item>
        </AccountMenu>
      </AppShell.Section>
    </>
  );
}

/** The page; in its place that the user is no longer a member, once that is known. */
function Content() {
  const { organization } = route.useRouteContext();
  const { data = [organization] } = useQuery(organizationsQuery);
  if (data.some(({ id }) => id === organization.id))
    return (
      <>
        <Stopped />
        <Outlet />
      </>
    );
  return (
    <Alert variant="default" role="alert" title={t.nav.notMember(organization.name)}>
      <Anchor href="/">{t.common.home}</Anchor>
    </Alert>
  );
}

/** Says over every page that an operator has suspended the organization, or lets nothing be changed, and why. */
function Stopped() {
  const { organization } = route.useRouteContext();
  const { suspension, readOnly } = useQuery(stoppedQuery(organization.id)).data ?? {};
  return (
    <>
      <ReadOnly reason={readOnly} />
      {suspension && <Banner title={t.nav.suspended(organization.name, formatDay(suspension.since))}>{suspension.reason}</Banner>}
    </>
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
      size="sm"
      variant="unstyled"
      aria-label={t.nav.workspace}
      className="workspace-choice"
      data={others.length === 0 ? here.items : [here, { group: t.nav.others, items: others }]}
      value={`${organization.slug}/${workspace.slug}`}
      onChange={({ currentTarget: { value } }) => void goTo(value)}
    />
  );
}

const Palette = lazy(patiently(() => import('./palette.tsx')));

/** The palette of commands, by its button or by the keys that people know for it. */
function GoTo() {
  const [opened, { open, close }] = useDisclosure();
  useHotkeys([['mod+K', open]], []);
  return (
    <>
      <Button
        size="xs"
        variant="default"
        visibleFrom="sm"
        leftSection={<IconSearch size={14} aria-hidden />}
        onClick={open}
        aria-keyshortcuts="Control+K Meta+K"
      >
        {t.palette.open}
      </Button>
      <Suspense>{opened && <Palette onClose={close} />}</Suspense>
    </>
  );
}
