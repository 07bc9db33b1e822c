import { Container, Group, Paper, Stack, Text, Title } from '@mantine/core';
import { type ReactNode, useEffect } from 'react';
import { t } from '../text.ts';
import { LanguageChoice } from './language-choice.tsx';
import { Mark } from './mark.tsx';

/** A page with one task, for those who have not come in yet. */
export function CardPage({ title, children }: { title: string; children: ReactNode }) {
  useEffect(() => {
    document.title = `${title} – ${t.common.product}`;
  }, [title]);
  return (
    <Container component="main" size={460} py={{ base: 'lg', sm: 64 }}>
      <Group justify="center" gap="xs" mb="md">
        <Mark size={28} />
        <Text fw={700} size="lg">
          {t.common.product}
        </Text>
      </Group>
      <Paper withBorder p={{ base: 'md', sm: 'xl' }} radius="lg">
        <Stack gap="md">
          <Title order={1} size="h2">
            {title}
          </Title>
          {children}
        </Stack>
      </Paper>
      <Group justify="center" mt="md">
        <LanguageChoice size="compact-sm" />
      </Group>
    </Container>
  );
}
