import { inTransaction } from '../db/transaction.ts';
import { requestObjectDeletion } from '../domain/objects/request-object-deletion.ts';
import {
  type DeletedObjects,
  deleteOrganizationObjects,
  deleteOrganizationRows,
  endOrganizationJobs,
} from '../domain/organizations/delete-organization.ts';
import type { ActivityDeps } from './deps.ts';
import { reporting } from './progress.ts';

interface OrganizationInput {
  organizationId: string;
}

const jobsPerTransaction = 100;

/** The steps of an organization's deletion; each can be repeated. */
export function organizationActivities(deps: ActivityDeps) {
  return {
    async endOrganizationJobs({ organizationId }: OrganizationInput): Promise<void> {
      const { onProgress, signal } = reporting<number>();
      for (let ended = 0; ; ) {
        signal.throwIfAborted();
        const batch = await endOrganizationJobs(deps.db, organizationId, jobsPerTransaction);
        if (batch === 0) return;
        ended += batch;
        onProgress(ended);
      }
    },

    deleteOrganizationObjects({ organizationId }: OrganizationInput): Promise<DeletedObjects> {
      const { before, onProgress, signal } = reporting<DeletedObjects>();
      // Objects that the store refused in an earlier attempt are listed and counted again.
      const counts = { deleted: before?.deleted ?? 0, failed: 0 };
      return deleteOrganizationObjects(deps.db, deps.storage, organizationId, { before: counts, onProgress, signal });
    },

    deleteOrganizationRows({ organizationId }: OrganizationInput): Promise<void> {
      const { onProgress } = reporting<string>();
      return deleteOrganizationRows(deps.db, organizationId, () => onProgress('deleting rows'));
    },

    /** Starts the workflow that deletes what the store refused. */
    async drainObjects({ organizationId }: OrganizationInput): Promise<void> {
      await inTransaction(deps.db, (trx) => requestObjectDeletion(trx, organizationId, []));
    },
  };
}
