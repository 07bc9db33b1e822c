import { closeCustomers } from '../payments/close-customers.ts';
import { type SeatSync, syncSeats } from '../payments/sync-seats.ts';
import type { ActivityDeps } from './deps.ts';

interface OrganizationInput {
  organizationId: string;
}

/** What is brought to Stripe. Each can be repeated; without billing none does anything. */
export function billingActivities({ db, payments }: ActivityDeps) {
  return {
    /** Ends an organization that is being deleted as a customer. Needs its rows. */
    closeCustomers: ({ organizationId }: OrganizationInput): Promise<void> => closeCustomers(db, payments, organizationId),

    /** Brings the billed seats of an organization to the count of its members; null while billing is off. */
    async syncSeats({ organizationId }: OrganizationInput): Promise<SeatSync | null> {
      return payments ? await syncSeats(payments, organizationId) : null;
    },
  };
}
