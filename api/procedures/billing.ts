import { contract } from '../../contract/index.ts';
import { findExceededLimits } from '../../domain/billing/find-exceeded-limits.ts';
import { findSubscription } from '../../domain/billing/find-subscription.ts';
import { getUsage } from '../../domain/organizations/get-usage.ts';
import type { ApiDeps } from '../deps.ts';
import { toPlanOverride } from '../presenters/organization.ts';
import { hasPaymentFailed, toSubscription } from '../presenters/subscription.ts';
import { procedure } from '../procedure.ts';

const billingOff = { enabled: false, plan: null, limits: null, subscription: null, paymentFailed: false, overLimit: [] };

export function billingProcedures({ db, config, getPlan }: ApiDeps) {
  return {
    status: procedure(contract.billing.status, async ({ input, authorize }) => {
      await authorize(input.organizationId);
      if (!config.billing.enabled) return billingOff;
      const plan = await getPlan(db, input.organizationId);
      const subscription = await findSubscription(db, input.organizationId);
      return {
        enabled: true,
        plan: plan?.plan ?? null,
        limits: plan?.limits ?? null,
        ...(plan?.override && { byHand: toPlanOverride(plan.override) }),
        subscription: subscription ? toSubscription(subscription) : null,
        paymentFailed: hasPaymentFailed(subscription),
        overLimit: findExceededLimits(plan, await getUsage(db, input.organizationId)),
      };
    }),
  };
}
