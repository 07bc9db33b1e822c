import { Button, Group, Stack } from '@mantine/core';
import type { QueryKey } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { queryClient } from '../queries.ts';
import { t } from '../text.ts';
import { Dialog } from './dialog.tsx';
import { Failure } from './failure.tsx';
import { type FormTask, useFormTask } from './use-form-task.ts';

interface FormDialogProps {
  title: string;
  action: string;
  /** What it does with its fields. The dialog stays open if that fails. */
  task: FormTask;
  /** What is read again once it is done, after which the dialog closes; without it closing is up to the task. */
  changes?: QueryKey;
  onClose: () => void;
  /** Whether it cannot be undone. */
  isDangerous?: boolean;
  children: ReactNode;
}

/** A form over the page. */
export function FormDialog({ title, action, task, changes, onClose, isDangerous = false, children }: FormDialogProps) {
  const doTask: FormTask = async (fields, data) => {
    await task(fields, data);
    if (changes) await queryClient.invalidateQueries({ queryKey: changes });
  };
  const { onSubmit, isPending, error } = useFormTask(doTask, changes && onClose);
  return (
    <Dialog title={title} onClose={onClose} isKept>
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
