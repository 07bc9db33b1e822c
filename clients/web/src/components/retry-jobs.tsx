import { useNavigate } from '@tanstack/react-router';
import { type ListedJob, retryJobs } from '../jobs.ts';
import { queryClient } from '../queries.ts';
import { t } from '../text.ts';
import { StartJobs } from './start-jobs.tsx';

interface RetryJobsProps {
  jobs: ListedJob[];
  onClose: () => void;
}

/** Asks whether to try failed jobs again, and leads to the new ones. */
export function RetryJobs({ jobs, onClose }: RetryJobsProps) {
  const navigate = useNavigate({ from: '/o/$organization/$workspace/jobs' });
  const start = async () => {
    const refused = await retryJobs(jobs);
    await queryClient.invalidateQueries({ queryKey: ['jobs'] });
    return refused;
  };
  const credits = t.common.credits(jobs.reduce((sum, job) => sum + job.credits, 0));
  return (
    <StartJobs
      title={t.jobs.retryAll(jobs.length)}
      text={t.jobs.retryAllText(credits)}
      action={t.common.retry}
      jobs={jobs.length}
      start={start}
      onStarted={() => navigate({ search: {} })}
      onClose={onClose}
    />
  );
}
