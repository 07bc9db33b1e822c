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

/** The steps of an organization's deletion; each can be repeated. */
export function organizationActivities(deps: ActivityDeps) {
  return {
    endOrganizationJobs: ({ organizationId }: OrganizationInput): Promise<void> =>
      endOrganizationJobs(deps.db, organizationId, reporting<number>()),

    deleteOrganizationObjects({ organizationId }: OrganizationInput): Promise<DeletedObjects> {
      const { before, onProgress, signal } = reporting<DeletedObjects>();
      // Objects that the store refused in an earlier attempt are listed and counted again.
      const counts = { deleted: before?.deleted ?? 0, failed: 0 };
      return deleteOrganizationObjects(deps.db, deps.storage, organizationId, { before: counts, onProgress, signal });
    },

    deleteOrganizationRows: ({ organizationId }: OrganizationInput): Promise<void> =>
      deleteOrganizationRows(deps.db, organizationId, reporting<number>()),

    /** Starts the workflow that deletes what the store refused. */
    async drainObjects({ organizationId }: OrganizationInput): Promise<void> {
      await inTransaction(deps.db, (trx) => requestObjectDeletion(trx, organizationId, []));
    },
  };
}
