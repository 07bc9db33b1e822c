import type { ListedJob } from '../jobs.ts';
import { formatPercent, t } from '../text.ts';
import { StateMark } from './state-mark.tsx';

const tones = { queued: 'busy', running: 'busy', succeeded: 'good', failed: 'bad', canceled: 'quiet' } as const;

/** The state of a job; of one that has several stages how much is done, too. */
export function JobState({ job }: { job: ListedJob }) {
  const { status } = job;
  const percent = job.kind === 'document.process' && status === 'running' ? ` ${formatPercent(job.progress / 100)}` : '';
  return <StateMark tone={tones[status]}>{`${t.jobs.states[status]}${percent}`}</StateMark>;
}
