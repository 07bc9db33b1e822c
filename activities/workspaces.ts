import { type DrainedWorkspace, drainWorkspace } from '../domain/workspaces/drain-workspace.ts';
import type { DeleteWorkspaceInput } from '../workflows/inputs.ts';
import { DeletionTurns } from './deletion-turns.ts';
import type { ActivityDeps } from './deps.ts';
import { reporting } from './progress.ts';

/** What the deletion of a workspace does after the request. */
export function workspaceActivities({ db }: ActivityDeps) {
  const turns = new DeletionTurns({ atOnce: 2, nextAttempt: '10 seconds' });
  return {
    /** Two at once in a process; a further one fails for now, as `busy`. */
    async drainWorkspace(workspace: DeleteWorkspaceInput): Promise<DrainedWorkspace> {
      const { before = { jobs: 0, documents: 0 }, onProgress, signal } = reporting<DrainedWorkspace>();
      return await turns.run(() => drainWorkspace(db, workspace, { before, onProgress, signal }), signal);
    },
  };
}
