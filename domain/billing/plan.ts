import type { PlanLimits, PlanName } from '../../contract/fields.ts';
import type { Db } from '../../db/connect.ts';

export interface Plan {
  plan: PlanName;
  limits: PlanLimits;
}

/** The plan of an organization; null while billing is off, when nothing is capped. Read it under the organization's lock. */
export type GetPlan = (db: Db, organizationId: string) => Promise<Plan | null>;
