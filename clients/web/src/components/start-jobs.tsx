import { Button, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { t } from '../text.ts';
import { Dialog } from './dialog.tsx';
import { FormDialog } from './form-dialog.tsx';

interface StartJobsProps {
  title: string;
  text: string;
  action: string;
  /** How many jobs it starts. */
  jobs: number;
  /** Returns why some were refused. */
  start: () => Promise<string[]>;
  /** Called if none was. */
  onStarted: () => unknown;
  onClose: () => void;
}

/** Asks whether to start several jobs, and says why some were refused. */
export function StartJobs({ title, text, action, jobs, start, onStarted, onClose }: StartJobsProps) {
  const [reasons, setReasons] = useState<string[]>();
  const task = async () => {
    const refused = await start();
    if (refused.length > 0) return setReasons(refused);
    onClose();
    await onStarted();
  };
  if (reasons) return <Refused title={title} started={jobs - reasons.length} reasons={reasons} onClose={onClose} />;
  return (
    <FormDialog title={title} action={action} task={task} onClose={onClose}>
      <Text>{text}</Text>
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
        <Text>{t.jobs.startedSome(started, reasons.length)}</Text>
        {[...new Set(reasons)].map((reason) => (
          <Text key={reason}>{t.jobs.refused(reason, reasons.filter((other) => other === reason).length)}</Text>
        ))}
      </Stack>
      <Group justify="flex-end">
        <Button onClick={onClose}>{t.common.close}</Button>
      </Group>
    </Dialog>
  );
}
