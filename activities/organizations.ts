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
    /** Ends the unfinished jobs of an organization that is being deleted. */
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

    /** Deletes every stored object of an organization, in bounded memory. */
    deleteOrganizationObjects({ organizationId }: OrganizationInput): Promise<DeletedObjects> {
      const { before, onProgress, signal } = reporting<DeletedObjects>();
      // What an earlier attempt was refused is listed again, and counted then.
      const counts = { deleted: before?.deleted ?? 0, failed: 0 };
      return deleteOrganizationObjects(deps.db, deps.storage, organizationId, { before: counts, onProgress, signal });
    },

    /** Removes everything an organization owns, and itself. */
    deleteOrganizationRows({ organizationId }: OrganizationInput): Promise<void> {
      const { onProgress } = reporting<string>();
      return deleteOrganizationRows(deps.db, organizationId, () => onProgress('deleting rows'));
    },

    /** Asks for the workflow that tries again what the store refused to delete. */
    async drainObjects({ organizationId }: OrganizationInput): Promise<void> {
      await inTransaction(deps.db, (trx) => requestObjectDeletion(trx, organizationId, []));
    },
  };
}
