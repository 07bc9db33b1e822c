import { Paper, Text, Title } from '@mantine/core';

/** What to do where there is nothing yet. */
export function Empty({ title, text }: { title?: string; text: string }) {
  return (
    <Paper withBorder p="xl" ta="center" className="empty">
      {title && (
        <Title order={2} size="h4" mb={4}>
          {title}
        </Title>
      )}
      <Text c="dimmed">{text}</Text>
    </Paper>
  );
}
