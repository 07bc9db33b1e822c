import { listFailures } from '../../domain/platform/list-failures.ts';
import { type Command, parseFlags, parseTime } from '../command.ts';
import { findOrganization } from '../find-rows.ts';
import { table } from '../table.ts';

const maxRows = 50;

const flags = {
  organization: { type: 'string' },
  from: { type: 'string' },
  to: { type: 'string' },
  json: { type: 'boolean' },
} as const;

export const failedCommand: Command = {
  usage: 'failed [--organization ID|SLUG] [--from TIME] [--to TIME] [--json]',
  summary: `Count failed jobs by error, kind and organization; the ${maxRows} largest groups.`,
  flags,
  async run(args, { db, print }) {
    const { organization, from, to, json } = parseFlags(args, flags);
    const organizationId = organization === undefined ? undefined : await findOrganization(db, organization);
    const filter = { organizationId, from: parseTime('from', from), to: parseTime('to', to) };
    const failures = await listFailures(db, filter, maxRows);
    if (json) print(JSON.stringify({ failures }));
    else if (failures.length === 0) print('No job has failed.');
    else {
      const rows = failures.map(({ code, kind, organization, jobs, lastAt }) => [code, kind, organization, jobs, lastAt.toISOString()]);
      for (const line of table([['ERROR', 'KIND', 'ORGANIZATION', 'JOBS', 'LAST'], ...rows])) print(line);
    }
  },
};
