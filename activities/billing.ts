import { type Reconciliation, reconcile } from '../domain/payments/reconcile.ts';
import { syncCustomer } from '../domain/payments/sync-customer.ts';
import { type SeatSync, syncSeats } from '../domain/payments/sync-seats.ts';
import type { ActivityDeps } from './deps.ts';
import { withHeartbeats } from './progress.ts';

interface OrganizationInput {
  organizationId: string;
}

/** Updates to Stripe and comparisons with it. Each can be repeated, and does nothing without billing. */
export function billingActivities({ payments, steps }: ActivityDeps) {
  steps?.expected('reconcileBilling');
  return {
    /** Compares the payment provider with the rows; null while billing is off. */
    reconcileBilling: ({ repair }: { repair: boolean }): Promise<Reconciliation | null> =>
      withHeartbeats(async () => {
        const result = payments ? await reconcile(payments, { repair }) : null;
        // A run that an operator asks for only compares, and does not count as a run of the schedule.
        if (repair) steps?.succeeded('reconcileBilling');
        return result;
      }),

    /** Gives the organization's customer the organization's name; null while billing is off. */
    syncCustomer: ({ organizationId }: OrganizationInput): Promise<{ renamed: boolean } | null> =>
      withHeartbeats(async () => (payments ? await syncCustomer(payments, organizationId) : null)),

    /** Sets the billed seats of an organization to its number of members; null while billing is off. */
    syncSeats: ({ organizationId }: OrganizationInput): Promise<SeatSync | null> =>
      withHeartbeats(async () => (payments ? await syncSeats(payments, organizationId) : null)),
  };
}
