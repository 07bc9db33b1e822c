import { sql } from 'kysely';
import type { Transaction } from '../../db/connect.ts';
import { queueMail } from '../mail.ts';
import { quoteName } from '../quote-name.ts';

export interface FailedPayment {
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
  const owners = await trx
    .selectFrom('member')
    .innerJoin('user', 'user.id', 'member.userId')
    .innerJoin('organization', 'organization.id', 'member.organizationId')
    .select(['user.email', 'organization.name'])
    .where('member.organizationId', '=', organizationId)
    .where(sql<boolean>`member.role ~ '\\yowner\\y'`)
    .orderBy('member.id')
    .execute();
  for (const { email, name } of owners) {
    await queueMail(trx, { kind: 'payment-failed', to: email, subject: 'A payment has failed', text: textOf(name, plan, url) });
  }
}

function textOf(organization: string, plan: string, url: string | null): string {
  const pay = url ? `Pay the invoice here:\n\n${url}\n` : 'Pay the invoice on the billing page of the organization.\n';
  return `A payment for the ${plan} plan of ${quoteName(organization)} has failed. If it stays unpaid, the plan ends.\n\n${pay}`;
}
