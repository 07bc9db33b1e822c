import type { Transaction } from '../../db/connect.ts';
import { mailOwners } from '../organizations/mail-owners.ts';
import { quoteName } from '../quote-name.ts';

interface FailedPayment {
  invoiceId: string;
  organizationId: string;
  plan: string;
  /** Where the invoice can be paid. */
  url: string | null;
}

/** Queues a mail to each owner of an organization, once for each invoice, however often its payment fails. */
export async function notifyPaymentFailed(trx: Transaction, { invoiceId, organizationId, plan, url }: FailedPayment): Promise<void> {
  const first = await trx
    .insertInto('payment_failure')
    .values({ invoice_id: invoiceId, organization_id: organizationId })
    .onConflict((conflict) => conflict.doNothing())
    .returning('invoice_id')
    .executeTakeFirst();
  if (!first) return;
  await mailOwners(trx, organizationId, (organization) => ({
    kind: 'payment-failed',
    subject: 'A payment has failed',
    text: textOf(organization, plan, url),
  }));
}

function textOf(organization: string, plan: string, url: string | null): string {
  const pay = url ? `Pay the invoice here:\n\n${url}\n` : 'Pay the invoice on the billing page of the organization.\n';
  return `A payment for the ${plan} plan of ${quoteName(organization)} has failed. If it stays unpaid, the plan ends.\n\n${pay}`;
}
