import { Anchor } from '@mantine/core';
import IconExternalLink from '@tabler/icons-react/icons/IconExternalLink';
import { t } from '../text.ts';

/** A link to a job's workflow in Temporal's UI. */
export function WorkflowLink({ url, jobId }: { url: string; jobId: string }) {
  return (
    <Anchor href={url + jobId} target="_blank" rel="noreferrer" size="sm" aria-label={t.admin.workflowOf(jobId)} title={t.admin.workflow}>
      <IconExternalLink size={16} aria-hidden className="icon" />
    </Anchor>
  );
}
