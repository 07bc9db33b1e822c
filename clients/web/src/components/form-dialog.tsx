import { Button, Group, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { t } from '../text.ts';
import { Dialog } from './dialog.tsx';
import { Failure } from './failure.tsx';
import { type FormTask, useFormTask } from './use-form-task.ts';

interface FormDialogProps {
  title: string;
  action: string;
  /** What it does with its fields. The dialog stays open if that fails; closing it is up to the task. */
  task: FormTask;
  onClose: () => void;
  /** Whether it cannot be undone. */
  isDangerous?: boolean;
  children: ReactNode;
}

/** A form over the page. */
export function FormDialog({ title, action, task, onClose, isDangerous = false, children }: FormDialogProps) {
  const { onSubmit, isPending, error } = useFormTask(task);
  return (
    <Dialog title={title} onClose={onClose}>
      <form onSubmit={onSubmit}>
        <Stack gap="md">
          {children}
          <Failure error={error} />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {t.common.cancel}
            </Button>
            <Button type="submit" loading={isPending} {...(isDangerous ? { color: 'red.8' } : {})}>
              {action}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
