import type { Organization } from './customers.ts';
import type { SoldPlan } from './plans.ts';

/** What an organization buys, and the URLs to which the buyer returns. */
export interface Purchase {
  organization: Organization;
  userId: string;
  plan: SoldPlan;
  /** Stripe's id of the one to change, if the organization has several. */
  subscriptionId?: string | undefined;
  /** The quantity of the plan, if it does not bill its members. */
  quantity?: number | undefined;
  metadata?: Record<string, string> | undefined;
  locale?: string | undefined;
  /** At the end of the current period. */
  atPeriodEnd: boolean;
  urls: { success: string; cancel: string; return: string };
}
