import { listProblems, remedies } from '../../domain/billing/problems.ts';
import { type Command, OpsError } from '../command.ts';
import { parseFlags } from '../flags.ts';
import { age, table } from '../table.ts';

const mostRows = 200;

export const billingCommand: Command = {
  usage: 'billing [--json]',
  summary: 'List what only you can put right with the payment provider, and how. Exits 1 when there is anything.',
  async run(args, { db, print }) {
    const { json } = parseFlags(args, { json: { type: 'boolean' } });
    const problems = await listProblems(db, mostRows);
    if (json) print(JSON.stringify({ problems: problems.map((one) => ({ ...one, remedy: remedies[one.kind] })) }));
    else if (problems.length === 0) print('Nothing is wrong with billing.');
    else {
      const rows = problems.map((one) => [one.kind, one.subject, one.organization_id ?? '', age(one.ageSeconds), remedies[one.kind]]);
      for (const line of table([['WHAT', "STRIPE'S ID", 'ORGANIZATION', 'FOR', 'WHAT TO DO'], ...rows])) print(line);
    }
    if (problems.length > 0) throw new OpsError(`${problems.length === mostRows ? `At least ${mostRows}` : problems.length} to put right.`);
  },
};
