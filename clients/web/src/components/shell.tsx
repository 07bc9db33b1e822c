import { Alert, Anchor, AppShell, Button, NativeSelect, Text } from '@mantine/core';
import { useDisclosure, useHotkeys } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Outlet, useNavigate } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { useLiveJobs } from '../jobs.ts';
import { type PageLink, pagesFor } from '../navigation.ts';
import { organizationsQuery, slugsOf, workspacesQuery } from '../queries.ts';
import { t } from '../text.ts';
import { Frame } from './frame.tsx';
import { LanguageChoice } from './language-choice.tsx';
import { NavTo } from './link-to.tsx';
import { SignOut } from './sign-out.tsx';

const route = getRouteApi('/o/$organization/$workspace');

/** The frame of a workspace's pages. */
export default function Shell() {
  useLiveJobs(route.useRouteContext());
  return (
    <Frame
      tools={
        <>
          <GoTo />
          <WorkspaceChoice />
        </>
      }
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
        {place.isPlatformAdmin && <NavTo to="/admin/system" label={t.admin.title} onClick={onNavigate} />}
        {pages.platform.map(toNav)}
      </AppShell.Section>
      <AppShell.Section pt="sm">
        <NavTo
          to="/o/$organization/$workspace/account"
          params={params}
          label={t.nav.account}
          description={user.email}
          onClick={onNavigate}
        />
        <SignOut />
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
