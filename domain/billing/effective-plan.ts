import type { PlanName } from '../../contract/fields.ts';

/** The fields of a subscription that decide about the plan. */
export interface PlanSource {
  plan: string;
  status: string;
  periodEnd: Date | null;
  /** When the first unpaid renewal was due. */
  pastDueSince: Date | null;
}

const dayMs = 86_400_000;
const paidPlans = ['team', 'pro'] as const satisfies PlanName[];

/**
 * The plan that counts for an organization at a time: the best that one of its subscriptions gives, else `free`. A subscription gives its
 * plan while it is active or on trial. One that is past due gives it for the days of dunning after the end of the unrenewed period, or of
 * the current period if no renewal is unpaid. The SQL functions `gives_plan` and `organization_plan` say the same.
 */
export function effectivePlan(subscriptions: PlanSource[], { now, dunningDays }: { now: Date; dunningDays: number }): PlanName {
  const counts = (each: PlanSource) =>
    each.status === 'active' || each.status === 'trialing' || (each.status === 'past_due' && graceEnd(each) > now.getTime());
  return paidPlans.find((plan) => subscriptions.some((each) => each.plan === plan && counts(each))) ?? 'free';

  function graceEnd({ pastDueSince, periodEnd }: PlanSource): number {
    const unpaidSince = pastDueSince ?? periodEnd;
    return unpaidSince ? unpaidSince.getTime() + dunningDays * dayMs : 0;
  }
}
