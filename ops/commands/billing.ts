import { listProblems, remedies, resolveProblem } from '../../domain/billing/problems.ts';
import { type Command, parseFlags } from '../command.ts';
import { type Compared, compareNow } from '../compare-now.ts';
import { type OpsContext, OpsError } from '../context.ts';
import { age, table } from '../table.ts';

const maxRows = 200;

const flags = { json: { type: 'boolean' }, check: { type: 'boolean' }, refunded: { type: 'string' } } as const;

export const billingCommand: Command = {
  usage: 'billing [--check] [--refunded SUBSCRIPTION] [--json]',
  summary:
    'List what only you can put right with the payment provider, and how. --check compares first, --refunded says that one of them is done. Exits 1 when there is anything.',
  flags,
  async run(args, context) {
    const { json, check, refunded } = parseFlags(args, flags);
    const { db, print } = context;
    if (refunded !== undefined) await forgetRefunded(context, refunded);
    const compared = check ? await compareNow(context) : undefined;
    const problems = await listProblems(db, maxRows);
    if (compared && !json) for (const line of describe(compared)) print(line);
    const off = (compared?.different.length ?? 0) + (compared?.seats.length ?? 0);
    if (json)
      print(JSON.stringify({ ...(compared && { compared }), problems: problems.map((one) => ({ ...one, remedy: remedies[one.kind] })) }));
    else if (problems.length === 0 && off === 0) print('Nothing is wrong with billing.');
    else if (problems.length > 0) {
      const rows = problems.map((one) => [one.kind, one.subject, one.organization_id ?? '', age(one.ageSeconds), remedies[one.kind]]);
      for (const line of table([['WHAT', "STRIPE'S ID", 'ORGANIZATION', 'FOR', 'WHAT TO DO'], ...rows])) print(line);
    }
    if (off > 0)
      throw new OpsError(`${off} subscriptions are not right; the daily comparison repairs them, or its schedule, triggered by hand.`);
    if (problems.length > 0) throw new OpsError(`${problems.length === maxRows ? `At least ${maxRows}` : problems.length} to put right.`);
  },
};

/**
 * Resolves the problem of a refunded subscription. The payment provider does not show this: the subscription has ended, and its
 * organization is gone.
 */
async function forgetRefunded({ db }: OpsContext, subscriptionId: string): Promise<void> {
  if (await resolveProblem(db, 'ended-with-organization', subscriptionId)) return;
  throw new OpsError(`No refund of ${subscriptionId} is listed.`);
}

function describe({ subscriptions, customers, different, seats }: Compared): string[] {
  return [
    `${subscriptions} subscriptions and ${customers} customers were compared.`,
    ...different.map((id) => `${id}: the row is not what Stripe says.`),
    ...seats.map((id) => `${id}: the seats are not the members.`),
  ];
}
