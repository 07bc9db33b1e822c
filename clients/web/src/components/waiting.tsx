import { Center, Loader } from '@mantine/core';
import { t } from '../text.ts';

export function Waiting() {
  return (
    <Center py="xl" role="status" aria-label={t.common.loading}>
      <Loader size="sm" />
    </Center>
  );
}
