import type { Db } from '../../db/connect.ts';
import { type ChangedJob, type JobChange, listChanges, readChangedJobs, replayStart } from '../../domain/jobs/list-changed-jobs.ts';

/** Reads the changes of an organization for which `isNew` returns true, in batches of jobs. */
export type ReadChanges = (organizationId: string, since: Date, isNew: (change: JobChange) => boolean) => AsyncIterable<ChangedJob[]>;

/** The one query of streams: every change since a moment, including those that were committed late, the oldest first. */
export function createChangeReader(db: Db): ReadChanges {
  return async function* (organizationId, since, isNew) {
    let from: Date | JobChange | undefined = replayStart(since);
    while (from !== undefined) {
      const { changes, more }: Awaited<ReturnType<typeof listChanges>> = await listChanges(db, organizationId, from);
      yield* readChangedJobs(db, changes.filter(isNew));
      from = more ? changes.at(-1) : undefined;
    }
  };
}
