import { inTransaction } from '../db/transaction.ts';
import { requestObjectDeletion } from '../domain/objects/request-object-deletion.ts';
import {
  type DeletedObjects,
  deleteOrganizationObjects,
  deleteOrganizationRows,
  endOrganizationJobs,
} from '../domain/organizations/delete-organization.ts';
import { DeletionTurns } from './deletion-turns.ts';
import type { ActivityDeps } from './deps.ts';
import { reporting } from './progress.ts';

interface OrganizationInput {
  organizationId: string;
}

/** The steps of an organization's deletion; each can be repeated. Four run at once in a process; a further one fails for now, as `busy`. */
export function organizationActivities({ db, bulkDb, storage }: ActivityDeps) {
  // Somebody may be waiting for the response to a deletion, so the next attempt comes soon.
  const turns = new DeletionTurns({ atOnce: 4, nextAttempt: '2 seconds' });
  return {
    async endOrganizationJobs({ organizationId }: OrganizationInput): Promise<void> {
      const progress = reporting<number>();
      await turns.run(() => endOrganizationJobs(db, organizationId, progress), progress.signal);
    },

    async deleteOrganizationObjects({ organizationId }: OrganizationInput): Promise<DeletedObjects> {
      const { before, onProgress, signal } = reporting<DeletedObjects>();
      // Objects that the store refused in an earlier attempt are listed and counted again.
      const counts = { deleted: before?.deleted ?? 0, failed: 0 };
      const progress = { before: counts, onProgress, signal };
      return await turns.run(() => deleteOrganizationObjects(db, storage, organizationId, progress), signal);
    },

    async deleteOrganizationRows({ organizationId }: OrganizationInput): Promise<void> {
      const progress = reporting<number>();
      await turns.run(() => deleteOrganizationRows(bulkDb, organizationId, progress), progress.signal);
    },

    /** Starts the workflow that deletes what the store refused. */
    async drainObjects({ organizationId }: OrganizationInput): Promise<void> {
      await inTransaction(db, (trx) => requestObjectDeletion(trx, organizationId, []));
    },
  };
}
