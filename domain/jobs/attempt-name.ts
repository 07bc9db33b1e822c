/** An attempt as Temporal identifies it. */
interface TemporalAttempt {
  runId: string;
  /** Counts the activities of a run. */
  activityId: string;
  /** Counts the attempts of an activity. */
  attempt: number;
}

/** The name of an attempt, as its claim writes it (docs/decisions/claimed-by.md). Within a run, a later attempt has a greater name. */
export function nameAttempt({ runId, activityId, attempt }: TemporalAttempt): string {
  return `${runId}/${activityId.padStart(6, '0')}/${String(attempt).padStart(6, '0')}`;
}

/** Whether an attempt of this run holds a job that was claimed by `claimedBy`. */
export function isOfRun(claimedBy: string | null, runId: string): boolean {
  return claimedBy?.startsWith(`${runId}/`) === true;
}

/**
 * Whether `claimedBy` is an attempt of the same activity before `name`. Temporal starts an attempt only after it has given up the one
 * before; that of another activity, which an operator may have ended by hand, goes on.
 */
export function isBefore(claimedBy: string | null, name: string): claimedBy is string {
  return claimedBy?.startsWith(name.slice(0, name.lastIndexOf('/') + 1)) === true && claimedBy < name;
}
