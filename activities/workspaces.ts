import { ApplicationFailure } from '@temporalio/activity';
import { Semaphore } from '../concurrency/semaphore.ts';
import { type DrainedWorkspace, drainWorkspace } from '../domain/workspaces/drain-workspace.ts';
import type { DeleteWorkspaceInput } from '../workflows/definitions.ts';
import type { ActivityDeps } from './deps.ts';
import { reporting } from './progress.ts';

/** How many workspaces a process drains at once. */
const drainsAtOnce = 2;
/** How long one that finds no turn waits for another attempt. */
const nextAttempt = '10 seconds';

/** What the deletion of a workspace does after the request. */
export function workspaceActivities({ db }: ActivityDeps) {
  const drains = new Semaphore(drainsAtOnce);
  return {
    /**
     * A drain may take hours, and a process runs a bounded number of activities, those of all tenants. So one beyond the first few does not
     * wait here: it fails for now, which gives its slot back, and Temporal tries it again.
     */
    async drainWorkspace(workspace: DeleteWorkspaceInput): Promise<DrainedWorkspace> {
      const { before = { jobs: 0, documents: 0 }, onProgress, signal } = reporting<DrainedWorkspace>();
      if (drains.held >= drains.limit) throw busy();
      return await drains.run(() => drainWorkspace(db, workspace, { before, onProgress, signal }), signal);
    },
  };
}

function busy(): ApplicationFailure {
  return ApplicationFailure.create({
    type: 'busy',
    message: 'Other workspaces are being drained.',
    nextRetryDelay: nextAttempt,
    category: 'BENIGN',
  });
}
