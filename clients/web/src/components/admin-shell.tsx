import { AppShell } from '@mantine/core';
import { Outlet } from '@tanstack/react-router';
import { adminPages } from '../navigation.ts';
import { t } from '../text.ts';
import { Frame } from './frame.tsx';
import { LanguageChoice } from './language-choice.tsx';
import { NavTo } from './link-to.tsx';
import { SignOut } from './sign-out.tsx';

/** The frame of the pages of platform admins. */
export default function AdminShell() {
  return (
    <Frame
      navigation={(onNavigate) => (
        <>
          <AppShell.Section grow className="navigation">
            {adminPages().map((page) => (
              <NavTo key={page.to} {...page} onClick={onNavigate} />
            ))}
          </AppShell.Section>
          <AppShell.Section pt="sm">
            <NavTo to="/" label={t.common.home} onClick={onNavigate} />
            <SignOut />
            <LanguageChoice fullWidth justify="flex-start" px="sm" />
          </AppShell.Section>
        </>
      )}
    >
      <Outlet />
    </Frame>
  );
}
