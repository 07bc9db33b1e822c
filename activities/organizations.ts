import { ApplicationFailure } from '@temporalio/activity';
import { inTransaction } from '../db/transaction.ts';
import {
  type DeletedObjects,
  deleteOrganizationObjects,
  deleteOrganizationRows,
  endOrganizationJobs,
} from '../domain/organizations/delete-organization.ts';
import { mayBeDeleted } from '../domain/organizations/request-deletion.ts';
import { closeCustomers } from '../domain/payments/close-customers.ts';
import { requestObjectDeletion } from '../domain/stored-objects/request-object-deletion.ts';
import type { ActivityDeps } from './deps.ts';
import { reporting, withHeartbeats } from './progress.ts';

interface OrganizationInput {
  organizationId: string;
}

/**
 * The steps of an organization's deletion; each can be repeated. Each fails for good unless the deletion was requested (docs/rules.md, the
 * row decides), since anybody who reaches Temporal can start the workflow.
 */
export function organizationActivities({ db, bulkDb, storage, payments }: ActivityDeps) {
  async function checkRequested(organizationId: string): Promise<void> {
    if (await mayBeDeleted(db, organizationId)) return;
    const message = `Nobody has asked to delete the organization ${organizationId}: admin.organizations.delete does.`;
    throw ApplicationFailure.nonRetryable(message, 'NotRequested');
  }

  return {
    /** Ends the customers of an organization that is being deleted. Needs its rows. */
    async closeCustomers({ organizationId }: OrganizationInput): Promise<void> {
      await checkRequested(organizationId);
      await withHeartbeats(() => closeCustomers(db, payments, organizationId));
    },

    async endOrganizationJobs({ organizationId }: OrganizationInput): Promise<void> {
      await checkRequested(organizationId);
      await endOrganizationJobs(db, organizationId, reporting<number>());
    },

    async deleteOrganizationObjects({ organizationId }: OrganizationInput): Promise<DeletedObjects> {
      await checkRequested(organizationId);
      const { before, onProgress, signal } = reporting<DeletedObjects>();
      // Objects that the store refused in an earlier attempt are listed and counted again.
      const counts = { deleted: before?.deleted ?? 0, failed: 0 };
      return await deleteOrganizationObjects(db, storage, organizationId, { before: counts, onProgress, signal });
    },

    async deleteOrganizationRows({ organizationId }: OrganizationInput): Promise<void> {
      await checkRequested(organizationId);
      await deleteOrganizationRows(bulkDb, organizationId, reporting<number>());
    },

    /** Starts the workflow that deletes the objects which the store refused. */
    async drainObjects({ organizationId }: OrganizationInput): Promise<void> {
      await inTransaction(db, (trx) => requestObjectDeletion(trx, organizationId, []));
    },
  };
}
