import { Modal, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { t } from '../text.ts';

/** What is asked over the page as it is. */
export function Dialog({ title, onClose, children }: { title: string; onClose: () => void; children: ReactNode }) {
  return (
    <Modal
      opened
      onClose={onClose}
      title={title}
      centered
      closeButtonProps={{ 'aria-label': t.common.close }}
      classNames={{ title: 'foreign' }}
      // A header in a dialog would be a second banner of the page.
      attributes={{ header: { role: 'none' } }}
    >
      <Stack gap="md">{children}</Stack>
    </Modal>
  );
}
