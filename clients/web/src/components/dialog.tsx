import { Modal, Stack } from '@mantine/core';
import { type ReactNode, useLayoutEffect } from 'react';
import { t } from '../text.ts';

interface DialogProps {
  title: string;
  onClose: () => void;
  /** Whether it has what is nowhere else: a click beside it does not close it. */
  isKept?: boolean;
  children: ReactNode;
}

/** What is asked over the page as it is. */
export function Dialog({ title, onClose, isKept = false, children }: DialogProps) {
  useFocusBack();
  return (
    <Modal
      opened
      onClose={onClose}
      title={title}
      centered
      closeOnClickOutside={!isKept}
      closeButtonProps={{ 'aria-label': t.common.close }}
      classNames={{ title: 'foreign' }}
      // A header in a dialog would be a second banner of the page.
      attributes={{ header: { role: 'none' } }}
    >
      <Stack gap="md" ref={focusFirst}>
        {children}
      </Stack>
    </Modal>
  );
}

/** The first field, or else what is to be copied, has the focus: without this it is the button that closes the dialog. */
function focusFirst(content: HTMLElement | null): void {
  content?.querySelector('input, select, textarea, pre')?.setAttribute('data-autofocus', '');
}

/**
 * Gives the focus back to what had it, if that is still there: a dialog that is opened by being there does not do that itself. In a layout
 * effect, so that a dialog which takes the place of another finds that one gone already.
 */
function useFocusBack(): void {
  useLayoutEffect(() => {
    const before = document.activeElement;
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
}
