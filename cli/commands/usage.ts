import type { Command } from 'commander';
import { addLeaf } from '../leaf.ts';
import type { Terminal } from '../terminal.ts';

/** `sheaf usage`. */
export function addUsage(program: Command, terminal: Terminal): void {
  addLeaf(program, terminal, {
    usage: 'usage',
    description: 'Show what the organization uses of its plan this month.',
    action: async ({ client, output, organizationId, terminal: { signal } }) => {
      const found = await client.organizations.usage({ organizationId }, { signal });
      const { plan, usage, limits, period } = found;
      const of = (limit: number | null | undefined) => (limit == null ? '' : ` of ${limit}`);
      const lines = [
        `plan        ${plan ?? 'none: nothing is limited'}`,
        `credits     ${usage.aiCredits}${of(limits?.aiCredits)} until ${period.end}`,
        `workspaces  ${usage.workspaces}${of(limits?.workspaces)}`,
        `members     ${usage.members}${of(limits?.members)}, and ${usage.pendingInvitations} invited`,
      ];
      output.show(found, lines.join('\n'));
    },
  });
}
