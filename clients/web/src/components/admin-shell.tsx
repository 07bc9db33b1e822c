import { AppShell, Menu } from '@mantine/core';
import IconFileText from '@tabler/icons-react/icons/IconFileText';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Outlet, useNavigate } from '@tanstack/react-router';
import { systemQuery } from '../admin-queries.ts';
import { adminPages } from '../navigation.ts';
import { t } from '../text.ts';
import { AccountMenu } from './account-menu.tsx';
import { ReadOnly } from './banner.tsx';
import { Frame } from './frame.tsx';
import { NavTo } from './link-to.tsx';

const route = getRouteApi('/admin');

/** The frame of the pages of platform admins. */
export default function AdminShell() {
  const { user } = route.useRouteContext();
  const navigate = useNavigate();
  const { data } = useQuery({ ...systemQuery, staleTime: 60_000 });
  return (
    <Frame
      navigation={(onNavigate) => (
        <>
          <AppShell.Section grow className="navigation">
            {adminPages().map(({ to, label, Icon }) => (
              <NavTo key={to} to={to} label={label} leftSection={<Icon size={18} aria-hidden />} onClick={onNavigate} />
            ))}
          </AppShell.Section>
          <AppShell.Section pt="sm">
            <AccountMenu user={user}>
              <Menu.Item leftSection={<IconFileText size={16} aria-hidden />} onClick={() => void navigate({ to: '/' })}>
                {t.common.home}
              </Menu.Item>
            </AccountMenu>
          </AppShell.Section>
        </>
      )}
    >
      <ReadOnly reason={data?.readOnly} />
      <Outlet />
    </Frame>
  );
}
