import { Title } from '@mantine/core';

/** The title of a part of a page. */
export function Subtitle(props: { children: string }) {
  return <Title order={2} size="h4" mt="xl" mb="sm" {...props} />;
}

/** The title of a paper on a page. */
export function PaperTitle(props: { children: string }) {
  return <Title order={2} size="h5" mb="xs" {...props} />;
}
