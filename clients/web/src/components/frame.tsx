import { ActionIcon, Alert, AppShell, Burger, Group, Text, useComputedColorScheme, useMantineColorScheme } from '@mantine/core';
import { useDisclosure, useNetwork } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { t } from '../text.ts';
import { SessionEnded } from './session-ended.tsx';

interface FrameProps {
  /** Beside the name of the product. */
  tools?: ReactNode;
  /** The links at the side; each calls `onNavigate`, which closes them on a phone. */
  navigation: (onNavigate: () => void) => ReactNode;
  children: ReactNode;
}

/** What stands around the pages of the signed-in. */
export function Frame({ tools, navigation, children }: FrameProps) {
  const [opened, { toggle, close }] = useDisclosure();
  const { online } = useNetwork();
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
            {tools}
            <ColorChoice />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="sm" aria-label={t.nav.label}>
        {navigation(close)}
      </AppShell.Navbar>
      <AppShell.Main id="content">
        {!online && (
          <Alert variant="default" mb="md" role="status">
            {t.common.offline}
          </Alert>
        )}
        <div className="page">{children}</div>
      </AppShell.Main>
      <SessionEnded />
    </AppShell>
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
