import type { Db } from '../../db/connect.ts';

export type PlanName = 'free' | 'pro' | 'team';

/** What a plan allows: counts, credits per calendar month (UTC), bytes per workspace (spec §2). */
export interface PlanLimits {
  workspaces: number;
  members: number;
  aiCredits: number;
  storageBytes: number;
}

export interface Plan {
  plan: PlanName;
  limits: PlanLimits;
}

/** The plan of an organization; null while billing is off, when nothing is capped. Read it under the organization's lock. */
export type GetPlan = (db: Db, organizationId: string) => Promise<Plan | null>;
