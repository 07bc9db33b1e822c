import { inTransaction } from '../../db/transaction.ts';
import { endSubscriptions } from '../../domain/billing/end-subscription.ts';
import { type Command, UsageError } from '../command.ts';
import { OpsError } from '../context.ts';
import { findOrganization } from '../find-rows.ts';

const billingIsOn =
  'Billing is configured: cancel the subscription at the payment provider, or with POST /api/v1/admin/organizations/{organizationId}/cancel-subscription.';

export const endSubscriptionCommand: Command = {
  usage: 'end-subscription ID|SLUG',
  summary: 'End the subscription that an organization has left from before billing was turned off.',
  async run(args, { db, config, print }) {
    const [organization, ...more] = args;
    if (organization === undefined || organization.startsWith('-') || more.length > 0) {
      throw new UsageError('end-subscription takes the id or slug of one organization.');
    }
    if (config.billing.enabled) throw new OpsError(billingIsOn);
    const organizationId = await findOrganization(db, organization);
    const result = await inTransaction(db, (trx) => endSubscriptions(trx, organizationId));
    if (result.outcome === 'no-organization') throw new OpsError(`There is no organization ${organizationId}.`);
    if (result.outcome === 'billing-on') throw new OpsError(`${billingIsOn} If it is off by now, restart the API first.`);
    if (result.outcome === 'none-live') throw new OpsError(`The organization ${organizationId} has no live subscription.`);
    for (const { id, plan, status, stripeSubscriptionId } of result.ended) {
      print(`Ended the subscription ${id} (${plan}, ${status}) of the organization ${organizationId}.`);
      if (stripeSubscriptionId)
        print(`The payment provider was not asked: if ${stripeSubscriptionId} is live there, cancel it there, too.`);
    }
  },
};
