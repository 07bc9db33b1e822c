import { z } from 'zod';
import type { PlanLimits, PlanName } from '../../contract/fields.ts';

const MEGABYTE = 1_000_000;
const GIGABYTE = 1_000 * MEGABYTE;

/** The limits of each plan; of `PLANS`, what it does not name is as here. */
const plans = z.strictObject({
  free: limits({ workspaces: 3, members: 5, aiCredits: 50, storageBytes: 100 * MEGABYTE }),
  pro: limits({ workspaces: 20, members: 25, aiCredits: 2_000, storageBytes: 5 * GIGABYTE }),
  team: limits({ workspaces: 100, members: 250, aiCredits: 20_000, storageBytes: 50 * GIGABYTE }),
} satisfies Record<PlanName, z.ZodType<PlanLimits>>);

function limits(defaults: PlanLimits) {
  return z
    .strictObject({
      workspaces: count(defaults.workspaces),
      // Postgres holds it as an integer.
      members: count(defaults.members, 2_147_483_647),
      aiCredits: count(defaults.aiCredits),
      storageBytes: count(defaults.storageBytes),
    })
    .prefault({});
}

function count(defaultValue: number, max = Number.MAX_SAFE_INTEGER) {
  return z.int('must be a whole number').min(0, 'must be at least 0').max(max, `must be at most ${max}`).default(defaultValue);
}

/** `PLANS`: the limits of each plan, as JSON that names those that are not the default. */
export function planLimits() {
  return z
    .string()
    .default('{}')
    .transform((text, context) => {
      const given = parseJson(text);
      const parsed = plans.safeParse(given);
      if (parsed.success) return parsed.data;
      if (given === undefined) context.addIssue('must be JSON, such as {"free":{"aiCredits":100}}');
      else for (const { path, message } of parsed.error.issues) context.addIssue([path.join('.'), message].filter(Boolean).join(' '));
      return z.NEVER;
    });
}

/** Undefined if it is no JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
