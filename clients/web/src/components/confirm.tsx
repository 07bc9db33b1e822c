import { Button, Group, Text } from '@mantine/core';
import type { QueryKey } from '@tanstack/react-query';
import { queryClient } from '../queries.ts';
import { t } from '../text.ts';
import { Dialog } from './dialog.tsx';
import { Failure } from './failure.tsx';
import { useTask } from './use-task.ts';

interface ConfirmProps {
  title: string;
  text: string;
  action: string;
  task: () => Promise<unknown>;
  /** What is read again once it has ended. */
  changes: QueryKey;
  onClose: () => void;
  /** Called instead of `onClose` once it is done. */
  onDone?: () => void;
}

/** Asks before something that cannot be undone, and does it. */
export function Confirm({ title, text, action, task, changes, onClose, onDone }: ConfirmProps) {
  // Of several things some may have been done before it failed.
  const mutationFn = () => task().finally(() => queryClient.invalidateQueries({ queryKey: changes }));
  const { mutate, isPending, error } = useTask({ mutationFn, ...(onDone && { onSuccess: onDone }) }, onDone ? undefined : onClose);
  return (
    <Dialog title={title} onClose={onClose}>
      <Text>{text}</Text>
      <Failure error={error} />
      <Group justify="flex-end">
        <Button variant="default" onClick={onClose}>
          {t.common.cancel}
        </Button>
        <Button color="red.8" loading={isPending} onClick={() => mutate()}>
          {action}
        </Button>
      </Group>
    </Dialog>
  );
}
