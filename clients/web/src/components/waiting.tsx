import { Skeleton, Stack } from '@mantine/core';
import { t } from '../text.ts';

/** Where rows or lines will stand, at once: nothing turns, and nothing moves when they come. */
export function Waiting() {
  return (
    <Stack role="status" aria-label={t.common.loading} gap="md" py="md" className="waiting">
      {['60%', '80%', '45%', '70%'].map((width) => (
        <Skeleton key={width} height={14} width={width} />
      ))}
    </Stack>
  );
}
