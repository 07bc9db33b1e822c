import { ApplicationFailure } from '@temporalio/activity';
import { type DrainedWorkspace, drainWorkspace } from '../domain/workspaces/drain-workspace.ts';
import { findWorkspaceDeletion, isWorkspaceThere } from '../domain/workspaces/workspace.ts';
import type { DeleteWorkspaceInput } from '../workflows/inputs.ts';
import type { ActivityDeps } from './deps.ts';
import { reporting } from './progress.ts';

/** The activities of a workspace's deletion after the request. */
export function workspaceActivities({ db }: ActivityDeps) {
  return {
    /** Fails for good unless the deletion was requested (docs/rules.md, the row decides). Drains nothing if it was drained before. */
    async drainWorkspace({ workspaceId }: DeleteWorkspaceInput): Promise<DrainedWorkspace> {
      const { before = { jobs: 0, documents: 0 }, onProgress, signal } = reporting<DrainedWorkspace>();
      const deletion = await findWorkspaceDeletion(db, workspaceId);
      if (deletion) return await drainWorkspace(db, deletion, { before, onProgress, signal });
      if (!(await isWorkspaceThere(db, workspaceId))) return before;
      const message = `Nobody has asked to delete the workspace ${workspaceId}: workspaces.delete does.`;
      throw ApplicationFailure.nonRetryable(message, 'NotRequested');
    },
  };
}
