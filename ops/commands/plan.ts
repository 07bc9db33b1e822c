import { ApiError } from '../../contract/api-error.ts';
import { planLimits, planName } from '../../contract/fields.ts';
import { inTransaction } from '../../db/transaction.ts';
import { systemActor } from '../../domain/audit.ts';
import { endPlanOverride, overridePlan } from '../../domain/billing/override-plan.ts';
import { type Command, parseFlags, parseReason, parseTime, UsageError } from '../command.ts';
import { OpsError } from '../context.ts';
import { findOrganization } from '../find-rows.ts';

const flags = {
  organization: { type: 'string' },
  plan: { type: 'string' },
  limits: { type: 'string' },
  until: { type: 'string' },
  reason: { type: 'string' },
  end: { type: 'boolean' },
} as const;

export const planCommand: Command = {
  usage: 'plan --organization ID|SLUG (--until TIME --reason TEXT [--plan PLAN] [--limits JSON] | --end)',
  summary: 'Give an organization a plan, or limits such as {"aiCredits":5000}, until a time. --end ends that.',
  flags,
  async run(args, { db, print }) {
    const { organization, end = false, ...given } = parseFlags(args, flags);
    const reason = parseReason(given.reason);
    if (organization === undefined || (end ? Object.keys(given).length > 0 : !given.until || reason === ''))
      throw new UsageError('plan takes --organization, and --until with --reason, or --end.');
    const until = parseTime('until', given.until) ?? '';
    const [plan, limits] = [planName.optional().safeParse(given.plan), planLimits.partial().strict().safeParse(readJson(given.limits))];
    if (!plan.success) throw new UsageError(`--plan takes one of ${planName.options.join(', ')}, not ${given.plan}.`);
    if (!limits.success)
      throw new UsageError(
        `--limits takes JSON such as {"aiCredits":5000}, of ${Object.keys(planLimits.shape).join(', ')}, each a whole number of at least 0, not ${given.limits}.`,
      );
    const organizationId = await findOrganization(db, organization);
    await inTransaction(db, async (trx) => {
      if (end) await endPlanOverride(trx, systemActor, organizationId);
      else await overridePlan(trx, systemActor, { organizationId, plan: plan.data, limits: limits.data, until, reason });
    }).catch((error: unknown) => Promise.reject(error instanceof ApiError ? new OpsError(error.message) : error));
    print(`The organization ${organization} ${end ? 'has only what it pays for' : `has that until ${until}`}.`);
  },
};

function readJson(text = '{}'): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
