import { type DrainedWorkspace, drainWorkspace } from '../domain/workspaces/drain-workspace.ts';
import type { DeleteWorkspaceInput } from '../workflows/definitions.ts';
import type { ActivityDeps } from './deps.ts';
import { reporting } from './progress.ts';

/** What the deletion of a workspace does after the request. */
export function workspaceActivities({ db }: ActivityDeps) {
  return {
    drainWorkspace(workspace: DeleteWorkspaceInput): Promise<DrainedWorkspace> {
      const { before = { jobs: 0, documents: 0 }, onProgress, signal } = reporting<DrainedWorkspace>();
      return drainWorkspace(db, workspace, { before, onProgress, signal });
    },
  };
}
