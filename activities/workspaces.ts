import { ApplicationFailure } from '@temporalio/activity';
import { Semaphore } from '../base/concurrency/semaphore.ts';
import type { DeleteWorkspaceInput } from '../contract/intents/inputs.ts';
import { type DrainedWorkspace, drainWorkspace } from '../domain/workspaces/drain-workspace.ts';
import { findWorkspaceDeletion, isWorkspaceThere } from '../domain/workspaces/workspace.ts';
import type { ActivityDeps } from './deps.ts';
import { reporting, withHeartbeats } from './progress.ts';

/** How many workspaces a process drains at once, so that connections are left for jobs. */
const maxDrains = 2;

/** The activities of a workspace's deletion after the request. */
export function workspaceActivities({ db }: ActivityDeps) {
  const drains = new Semaphore(maxDrains);
  return {
    /** Fails for good unless the deletion was requested (docs/rules.md, the row decides). Drains nothing if it was drained before. */
    async drainWorkspace({ workspaceId }: DeleteWorkspaceInput): Promise<DrainedWorkspace> {
      const { before = { jobs: 0, documents: 0 }, signal } = reporting<DrainedWorkspace>();
      const deletion = await findWorkspaceDeletion(db, workspaceId);
      if (deletion) {
        let counts = before;
        const onProgress = (progress: DrainedWorkspace) => {
          counts = progress;
        };
        const drain = () => drains.run(() => drainWorkspace(db, deletion, { before, onProgress, signal }), signal);
        return await withHeartbeats(drain, () => counts);
      }
      if (!(await isWorkspaceThere(db, workspaceId))) return before;
      const message = `Nobody has asked to delete the workspace ${workspaceId}: workspaces.delete does.`;
      throw ApplicationFailure.nonRetryable(message, 'NotRequested');
    },
  };
}
