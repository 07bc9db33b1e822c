import { type Reconciliation, reconcile } from '../payments/reconcile.ts';
import { syncCustomer } from '../payments/sync-customer.ts';
import { type SeatSync, syncSeats } from '../payments/sync-seats.ts';
import type { ActivityDeps } from './deps.ts';
import { withHeartbeats } from './progress.ts';

interface OrganizationInput {
  organizationId: string;
}

/** What is brought to Stripe. Each can be repeated; without billing none does anything. */
export function billingActivities({ payments, steps }: ActivityDeps) {
  steps?.expected('reconcileBilling');
  return {
    /** Compares the payment provider with the rows; null while billing is off. */
    reconcileBilling: ({ repair }: { repair: boolean }): Promise<Reconciliation | null> =>
      withHeartbeats(async () => {
        const result = payments ? await reconcile(payments, { repair }) : null;
        // What an operator asks for compares only, and stands for no run of the schedule.
        if (repair) steps?.succeeded('reconcileBilling');
        return result;
      }),

    /** Gives the customer of an organization its name; null while billing is off. */
    syncCustomer: ({ organizationId }: OrganizationInput): Promise<{ renamed: boolean } | null> =>
      withHeartbeats(async () => (payments ? await syncCustomer(payments, organizationId) : null)),

    /** Brings the billed seats of an organization to the count of its members; null while billing is off. */
    syncSeats: ({ organizationId }: OrganizationInput): Promise<SeatSync | null> =>
      withHeartbeats(async () => (payments ? await syncSeats(payments, organizationId) : null)),
  };
}
