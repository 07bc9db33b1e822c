import type { ReplayInput, ReplayProgress } from './inputs.ts';

/** The defaults of fields that a replay's input leaves out. */
export const replayDefaults = { perMinute: 60, limit: 1_000 };

/** Whether a replay has reached its limit and looks for no more jobs. */
export function isReplayLimited({ matched }: ReplayProgress, { limit = replayDefaults.limit }: ReplayInput): boolean {
  return matched >= limit;
}

/** A replay's progress in a sentence; in two if there may be more jobs than its limit. */
export function describeReplay(progress: ReplayProgress, input: ReplayInput): string {
  const { matched, retried, skipped } = progress;
  const more = isReplayLimited(progress, input)
    ? ` The limit of ${input.limit ?? replayDefaults.limit} is reached: there may be more.`
    : '';
  const jobs = matched === 1 ? 'job' : 'jobs';
  if (input.dryRun) return `${matched} ${jobs} would be retried.${more}`;
  const reasons = Object.entries(skipped).map(([reason, count]) => `${count} ${reason}`);
  return `${retried} of ${matched} ${jobs} retried${reasons.length > 0 ? `; not retried: ${reasons.join(', ')}` : ''}.${more}`;
}
