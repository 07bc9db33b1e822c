import type { ReplayInput, ReplayProgress } from '../contract/intents/inputs.ts';

/** The defaults of fields that a replay's input leaves out. */
export const replayDefaults = { perMinute: 60, limit: 1_000 };

/** Whether a replay has reached its limit and looks for no more jobs. */
export function isReplayLimited({ matched }: ReplayProgress, { limit = replayDefaults.limit }: ReplayInput): boolean {
  return matched >= limit;
}

/** A replay's progress in a sentence; in two if there may be more jobs than its limit. */
export function describeReplay(progress: ReplayProgress, input: ReplayInput): string {
  const reasons = Object.entries(progress.skipped).map(([reason, count]) => `${count} ${reason}`);
  const skipped = reasons.length > 0 ? `; not retried: ${reasons.join(', ')}` : '';
  return `${progress.retried} of ${describeMatched(progress)} retried${skipped}.${describeLimit(progress, input)}`;
}

/** The same of a replay that only counts. */
export function describeDryRun(progress: ReplayProgress, input: ReplayInput): string {
  return `${describeMatched(progress)} would be retried.${describeLimit(progress, input)}`;
}

function describeMatched({ matched }: ReplayProgress): string {
  return `${matched} ${matched === 1 ? 'job' : 'jobs'}`;
}

function describeLimit(progress: ReplayProgress, input: ReplayInput): string {
  const { limit = replayDefaults.limit } = input;
  return isReplayLimited(progress, input) ? ` The limit of ${limit} is reached: there may be more.` : '';
}
