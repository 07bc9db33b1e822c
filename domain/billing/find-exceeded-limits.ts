import { organizationLimits } from '../../contract/errors.ts';
import type { Usage } from '../organizations/get-usage.ts';
import type { Plan } from './plan.ts';

interface ExceededLimit {
  kind: (typeof organizationLimits)[number];
  current: number;
  limit: number;
}

/** The plan limits that an organization exceeds, for example after a downgrade. */
export function findExceededLimits(plan: Plan | null, usage: Usage): ExceededLimit[] {
  if (!plan) return [];
  const current = {
    workspaces: usage.workspaces,
    members: usage.members + usage.pendingInvitations,
    aiCredits: usage.aiCredits,
  };
  return organizationLimits
    .map((kind) => ({ kind, current: current[kind], limit: plan.limits[kind] }))
    .filter((each) => each.current > each.limit);
}
