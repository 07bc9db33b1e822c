import { checkLedger, countLedger } from '../../domain/credits/check-ledger.ts';
import { type Command, parseFlags } from '../command.ts';
import { OpsError } from '../context.ts';
import { findOrganization } from '../find-rows.ts';
import { counted, table } from '../table.ts';

const flags = { json: { type: 'boolean' }, organization: { type: 'string' } } as const;

export const ledgerCommand: Command = {
  usage: 'ledger [--organization ID|SLUG] [--json]',
  summary: 'Compare the credit ledger with the jobs and the months. Exits 1 if it is off.',
  flags,
  async run(args, { db, print }) {
    const { json, organization } = parseFlags(args, flags);
    const organizationId = organization === undefined ? undefined : await findOrganization(db, organization);
    const problems = await checkLedger(db, { organizationId });
    const compared = await countLedger(db, organizationId);
    const [jobs, months] = [counted(compared.jobs, 'job'), counted(compared.months, 'month')];
    const entries = counted(compared.entries, 'entry', 'entries');
    if (json) print(JSON.stringify({ problems, compared }));
    else if (problems.length === 0) print(`The ledger is sound: ${jobs}, ${entries} and ${months} compared.`);
    else {
      const rows = problems.map((one) => [one.problem, one.organization_id, one.job_id ?? '', one.month ?? '', one.expected, one.found]);
      for (const line of table([['PROBLEM', 'ORGANIZATION', 'JOB', 'MONTH', 'EXPECTED', 'FOUND'], ...rows])) print(line);
    }
    if (problems.length > 0) throw new OpsError(`The ledger is off in ${counted(problems.length, 'place')}.`);
  },
};
