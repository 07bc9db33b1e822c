import { Button, Paper, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { Failure } from '../components/failure.tsx';
import { type FormTask, useFormTask } from '../components/use-form-task.ts';

export function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Paper withBorder p="md" component="section" aria-label={title}>
      <Title order={2} size="h4" mb="sm">
        {title}
      </Title>
      {children}
    </Paper>
  );
}

interface FormProps {
  task: FormTask;
  action: string;
  /** What is said once it has worked. */
  done: string;
  children: ReactNode;
}

export function Form({ task, action, done, children }: FormProps) {
  const { onSubmit, isPending, isSuccess, error } = useFormTask(task);
  return (
    <form onSubmit={onSubmit}>
      <Stack gap="md" align="flex-start" className="form">
        {children}
        <Failure error={error} />
        {isSuccess && <Text role="status">{done}</Text>}
        <Button type="submit" loading={isPending}>
          {action}
        </Button>
      </Stack>
    </form>
  );
}
