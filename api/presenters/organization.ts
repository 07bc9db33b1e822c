import type { SubscriptionStatus } from '../../contract/fields.ts';
import type { PlanOverrideRow } from '../../domain/billing/override-plan.ts';
import type { OrganizationSummaryRow } from '../../domain/organizations/list-organizations.ts';
import type { Suspension } from '../../domain/organizations/suspension.ts';

/** Why an organization is suspended, and since when. */
export function toSuspension({ reason, since }: Suspension) {
  return { reason, since: since.toISOString() };
}

/** What an operator has given an organization by hand. */
export function toPlanOverride({ plan, limits, until, reason }: Omit<PlanOverrideRow, 'organization_id'>) {
  return { plan, limits, until: until.toISOString(), reason };
}

/** An organization as platform admins see it in their list; it has no plan while billing is off. */
export function toOrganizationSummary(organization: OrganizationSummaryRow, billingEnabled: boolean) {
  const { subscription } = organization;
  return {
    id: organization.id,
    name: organization.name,
    slug: organization.slug,
    createdAt: organization.created_at.toISOString(),
    billingCustomerId: organization.billing_customer_id,
    members: organization.members,
    workspaces: organization.workspaces,
    plan: billingEnabled ? organization.plan : null,
    seats: { billed: subscription?.live ? subscription.seats : null, members: organization.members },
    subscription: subscription && {
      id: subscription.id,
      plan: subscription.plan,
      status: subscription.status as SubscriptionStatus,
      seats: subscription.seats,
      periodEnd: subscription.periodEnd === null ? null : new Date(subscription.periodEnd).toISOString(),
      cancelAtPeriodEnd: subscription.cancelAtPeriodEnd ?? false,
      billingSubscriptionId: subscription.stripeSubscriptionId,
    },
    ...(organization.override && { byHand: { ...organization.override, until: new Date(organization.override.until).toISOString() } }),
    ...(organization.suspended_since && {
      suspension: toSuspension({ reason: organization.suspended_reason ?? '', since: organization.suspended_since }),
    }),
  };
}
