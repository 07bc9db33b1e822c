import type { Command } from 'commander';
import { addLeaf, choice, integer } from '../leaf.ts';
import { findOrganization, type Run } from '../run.ts';
import type { Terminal } from '../terminal.ts';

interface Options {
  by?: 'kind' | 'workspace' | 'key';
  days?: number;
}

/** `sheaf usage`. */
export function addUsage(program: Command, terminal: Terminal): void {
  addLeaf<Options>(program, terminal, {
    usage: 'usage',
    description: 'Show what the organization uses of its plan this month; with --by the credits of each day.',
    options: (command) =>
      command
        .addOption(choice('--by <group>', 'what the credits of a day are told apart by', ['kind', 'workspace', 'key']))
        .option('--days <number>', 'how many days, with --by: 31 at the most, and if you do not say', integer(1)),
    action: (run, options) => (options.by === undefined ? showUsage(run) : showHistory(run, options.by, options.days)),
  });
}

async function showUsage(run: Run): Promise<void> {
  const { client, output, terminal } = run;
  const found = await client.organizations.usage({ organizationId: await findOrganization(run) }, { signal: terminal.signal });
  const { plan, usage, limits, period } = found;
  const of = (limit: number | undefined) => (limit === undefined ? '' : ` of ${limit}`);
  const lines = [
    `plan        ${plan ?? 'none: nothing is limited'}`,
    `credits     ${usage.aiCredits}${of(limits?.aiCredits)} until ${period.end}`,
    `workspaces  ${usage.workspaces}${of(limits?.workspaces)}`,
    `members     ${usage.members}${of(limits?.members)}, and ${usage.pendingInvitations} invited`,
  ];
  output.show(found, lines.join('\n'));
}

async function showHistory(run: Run, by: NonNullable<Options['by']>, days: number | undefined): Promise<void> {
  const { client, output, terminal } = run;
  const input = { organizationId: await findOrganization(run), by, ...(days === undefined ? {} : { days }) };
  const found = await client.organizations.usageHistory(input, { signal: terminal.signal });
  const rows = found.items.map(({ day, group, charged, refunded }) => {
    const back = refunded > 0 ? `, ${refunded} given back` : '';
    return `${day}  ${(group ?? 'none').padEnd(40)}  ${charged} charged${back}`;
  });
  output.show(found, [...rows, `${found.heldCredits} held by unfinished jobs, searches and answers`].join('\n'));
}
