import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import type { Document } from '@sheaf/client';
import { useMutation } from '@tanstack/react-query';
import { queryClient } from '../queries.ts';
import { service } from '../service.ts';
import { t } from '../text.ts';
import { Failure } from './failure.tsx';

/** Asks, and deletes. */
export function DeleteDocument({ document: { id, name }, onClose }: { document: Document; onClose: (isDeleted: boolean) => void }) {
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => service.documents.delete({ id }),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: ['documents'] });
      onClose(true);
    },
  });
  return (
    <Modal
      opened
      onClose={() => onClose(false)}
      title={t.documents.deleteTitle(name)}
      centered
      closeButtonProps={{ 'aria-label': t.common.close }}
    >
      <Stack gap="md">
        <Text size="sm">{t.documents.deleteText}</Text>
        <Failure error={error} />
        <Group justify="flex-end">
          <Button variant="default" onClick={() => onClose(false)}>
            {t.common.cancel}
          </Button>
          <Button color="red.8" loading={isPending} onClick={() => mutate()}>
            {t.common.delete}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
