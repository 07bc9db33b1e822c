import { Button, Group, Stack, Text } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { type ListedJob, retryJobs } from '../jobs.ts';
import { queryClient } from '../queries.ts';
import { t } from '../text.ts';
import { Dialog } from './dialog.tsx';
import { FormDialog } from './form-dialog.tsx';

interface RetryJobsProps {
  jobs: ListedJob[];
  onClose: () => void;
}

/** Asks whether to try failed jobs again, and leads to the new ones, or says why some were refused. */
export function RetryJobs({ jobs, onClose }: RetryJobsProps) {
  const navigate = useNavigate({ from: '/o/$organization/$workspace/jobs' });
  const [reasons, setReasons] = useState<string[]>();
  const task = async () => {
    const refused = await retryJobs(jobs);
    await queryClient.invalidateQueries({ queryKey: ['jobs'] });
    if (refused.length > 0) return setReasons(refused);
    onClose();
    await navigate({ search: {} });
  };
  const title = t.jobs.retryAll(jobs.length);
  if (reasons) return <Refused title={title} started={jobs.length - reasons.length} reasons={reasons} onClose={onClose} />;
  const credits = t.common.credits(jobs.reduce((sum, job) => sum + job.credits, 0));
  return (
    <FormDialog title={title} action={t.common.retry} task={task} onClose={onClose}>
      <Text>{t.jobs.retryAllText(credits)}</Text>
    </FormDialog>
  );
}

interface RefusedProps {
  title: string;
  started: number;
  /** Why the others were not, in the words of the service. */
  reasons: string[];
  onClose: () => void;
}

function Refused({ title, started, reasons, onClose }: RefusedProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      <Stack gap="xs" role="status">
        <Text>{t.jobs.retriedSome(started, reasons.length)}</Text>
        {[...new Set(reasons)].map((reason) => (
          <Text key={reason}>{t.jobs.retryRefused(reason, reasons.filter((other) => other === reason).length)}</Text>
        ))}
      </Stack>
      <Group justify="flex-end">
        <Button onClick={onClose}>{t.common.close}</Button>
      </Group>
    </Dialog>
  );
}
