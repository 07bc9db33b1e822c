import { closeCustomers } from '../payments/close-customers.ts';
import { type Reconciliation, reconcile } from '../payments/reconcile.ts';
import { type SeatSync, syncSeats } from '../payments/sync-seats.ts';
import type { ActivityDeps } from './deps.ts';
import { reporting } from './progress.ts';

interface OrganizationInput {
  organizationId: string;
}

/** What is brought to Stripe. Each can be repeated; without billing none does anything. */
export function billingActivities({ db, payments }: ActivityDeps) {
  return {
    /** Ends an organization that is being deleted as a customer. Needs its rows. */
    closeCustomers: ({ organizationId }: OrganizationInput): Promise<void> => closeCustomers(db, payments, organizationId),

    /** Compares the payment provider with the rows; null while billing is off. */
    async reconcileBilling({ repair }: { repair: boolean }): Promise<Reconciliation | null> {
      const { onProgress } = reporting<string>();
      return payments ? await reconcile(payments, { repair, onProgress: () => onProgress('comparing') }) : null;
    },

    /** Brings the billed seats of an organization to the count of its members; null while billing is off. */
    async syncSeats({ organizationId }: OrganizationInput): Promise<SeatSync | null> {
      return payments ? await syncSeats(payments, organizationId) : null;
    },
  };
}
