import { Button, Code, CopyButton, Group, Text } from '@mantine/core';
import { canCopy } from '../clipboard.ts';
import { t } from '../text.ts';
import { Dialog } from './dialog.tsx';

/** A secret that is shown only once. It is nowhere but in this dialog. */
export function Secret({ title, hint, secret, onClose }: { title: string; hint: string; secret: string; onClose: () => void }) {
  return (
    <Dialog title={title} onClose={onClose} isKept>
      <Text>{hint}</Text>
      <Code block className="foreign wraps" tabIndex={0}>
        {secret}
      </Code>
      <Group justify="flex-end">
        {canCopy && (
          <CopyButton value={secret}>
            {({ copy, copied }) => (
              <Button variant="default" onClick={copy}>
                {copied ? t.common.copied : t.common.copy}
              </Button>
            )}
          </CopyButton>
        )}
        <Button onClick={onClose}>{t.common.done}</Button>
      </Group>
    </Dialog>
  );
}
