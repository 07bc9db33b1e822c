import { Button, Stack } from '@mantine/core';
import type { QueryKey } from '@tanstack/react-query';
import { queryClient } from '../queries.ts';
import { Failure } from './failure.tsx';
import { useTask } from './use-task.ts';

interface TaskButtonProps {
  task: () => Promise<unknown>;
  /** What is read again, however it ended. */
  changes?: QueryKey;
  /** For those who do not see what the button stands beside. */
  label?: string;
  variant?: 'default' | 'filled';
  children: string;
}

/** A button that does one thing at once, and says below itself if that failed. */
export function TaskButton({ task, changes, label, variant = 'default', children }: TaskButtonProps) {
  const { mutate, isPending, error } = useTask({
    mutationFn: task,
    onSettled: () => changes && queryClient.invalidateQueries({ queryKey: changes }),
  });
  return (
    <Stack gap="xs" align="flex-end">
      <Button size="xs" variant={variant} aria-label={label} loading={isPending} onClick={() => mutate()}>
        {children}
      </Button>
      <Failure error={error} />
    </Stack>
  );
}
