import { Menu, Text, UnstyledButton, useComputedColorScheme, useMantineColorScheme, VisuallyHidden } from '@mantine/core';
import { useLocalStorage } from '@mantine/hooks';
import IconLanguage from '@tabler/icons-react/icons/IconLanguage';
import IconLayoutRows from '@tabler/icons-react/icons/IconLayoutRows';
import IconLogout from '@tabler/icons-react/icons/IconLogout';
import IconMoon from '@tabler/icons-react/icons/IconMoon';
import IconSelector from '@tabler/icons-react/icons/IconSelector';
import IconSun from '@tabler/icons-react/icons/IconSun';
import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useLayoutEffect } from 'react';
import { chooseLanguage, languages, otherLanguages } from '../language.ts';
import { leave, type User } from '../queries.ts';
import { ask, auth } from '../service.ts';
import { t } from '../text.ts';
import { Failure } from './failure.tsx';

/** What belongs to the user and not to a page: the given items, language, colors, and the way out. */
export function AccountMenu({ user: { name, email }, children }: { user: User; children?: ReactNode }) {
  const [isDense, setIsDense] = useLocalStorage({ key: 'dense-rows', defaultValue: false, getInitialValueInEffect: false });
  useLayoutEffect(() => void document.documentElement.toggleAttribute('data-dense', isDense), [isDense]);
  // The console is loaded anew, so that nothing of a user stays in memory.
  const signOut = useMutation({ mutationFn: () => ask(auth.signOut()), onSuccess: () => leave('/sign-in') });
  return (
    <>
      <Failure error={signOut.error} />
      <Menu position="top-start" width="target">
        <Menu.Target>
          <UnstyledButton className="account" disabled={signOut.isPending}>
            <VisuallyHidden>{t.nav.account}</VisuallyHidden>
            <span className="one-line">
              <Text component="span" display="block" fw={550} truncate>
                {name}
              </Text>
              <Text component="span" display="block" size="xs" c="dimmed" truncate>
                {email}
              </Text>
            </span>
            <IconSelector size={16} aria-hidden className="keep" />
          </UnstyledButton>
        </Menu.Target>
        <Menu.Dropdown>
          {children}
          <ColorItem />
          <Menu.Item leftSection={<IconLayoutRows size={16} aria-hidden />} onClick={() => setIsDense(!isDense)}>
            {isDense ? t.nav.roomy : t.nav.dense}
          </Menu.Item>
          {otherLanguages.map((each) => (
            <Menu.Item key={each} lang={each} leftSection={<IconLanguage size={16} aria-hidden />} onClick={() => chooseLanguage(each)}>
              {languages[each]}
            </Menu.Item>
          ))}
          <Menu.Item leftSection={<IconLogout size={16} aria-hidden />} onClick={() => signOut.mutate()}>
            {t.nav.signOut}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
    </>
  );
}

function ColorItem() {
  const { setColorScheme } = useMantineColorScheme();
  const isDark = useComputedColorScheme('light') === 'dark';
  const Icon = isDark ? IconSun : IconMoon;
  return (
    <Menu.Item leftSection={<Icon size={16} aria-hidden />} onClick={() => setColorScheme(isDark ? 'light' : 'dark')}>
      {isDark ? t.nav.light : t.nav.dark}
    </Menu.Item>
  );
}
