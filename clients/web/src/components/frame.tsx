import { Alert, AppShell, Burger, Group, Text } from '@mantine/core';
import { useDisclosure, useNetwork } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { t } from '../text.ts';
import { Mark } from './mark.tsx';
import { SessionEnded } from './session-ended.tsx';
import { useFocusKept } from './use-focus-kept.ts';

interface FrameProps {
  /** Beside the mark, in place of the name of the product. */
  brand?: ReactNode;
  /** Where the page stands. */
  crumbs?: ReactNode;
  /** At the right of the head. */
  tools?: ReactNode;
  /** The links at the side; each calls `onNavigate`, which closes them on a phone. */
  navigation: (onNavigate: () => void) => ReactNode;
  children: ReactNode;
}

/** What stands around the pages of the signed-in. */
export function Frame({ brand, crumbs, tools, navigation, children }: FrameProps) {
  const [opened, { toggle, close }] = useDisclosure();
  const { online } = useNetwork();
  useFocusKept();
  return (
    <AppShell
      layout="alt"
      header={{ height: 48 }}
      navbar={{ width: 232, breakpoint: 'sm', collapsed: { mobile: !opened } }}
      padding={{ base: 'md', sm: 'xl' }}
    >
      <a className="skip" href="#content">
        {t.common.skip}
      </a>
      <AppShell.Header px="md">
        <Group h="100%" justify="space-between" wrap="nowrap">
          <Group gap="sm" wrap="nowrap" miw={0}>
            <Burger opened={opened} onClick={toggle} hiddenFrom="sm" size="sm" aria-label={t.nav.menu} aria-expanded={opened} />
            {crumbs}
          </Group>
          {tools}
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="sm" aria-label={t.nav.label}>
        <Group gap="xs" wrap="nowrap" px={6} pb="sm">
          <Mark />
          {brand ?? (
            <Text size="md" fw={650}>
              {t.common.product}
            </Text>
          )}
          <Burger opened onClick={close} hiddenFrom="sm" size="sm" ml="auto" aria-label={t.common.close} />
        </Group>
        {navigation(close)}
      </AppShell.Navbar>
      <AppShell.Main id="content" tabIndex={-1}>
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
