import { Group, Title } from '@mantine/core';
import { type ReactNode, useEffect } from 'react';
import { t } from '../text.ts';

/** The title of a page, which is the window's too, with what belongs beside it. */
export function PageHead({ title, children }: { title: string; children?: ReactNode }) {
  useEffect(() => {
    document.title = `${title} – ${t.common.product}`;
  }, [title]);
  return (
    <Group justify="space-between" align="baseline" mb="lg" gap="sm">
      <Title order={1} size="h2" className="foreign">
        {title}
      </Title>
      {children}
    </Group>
  );
}
