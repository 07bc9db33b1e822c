import type { Command } from 'commander';
import { addLeaf } from '../leaf.ts';
import { findOrganization } from '../run.ts';
import { plain, type Terminal } from '../terminal.ts';

/** `sheaf workspaces list`. */
export function addWorkspaces(program: Command, terminal: Terminal): void {
  const workspaces = program.command('workspaces').description('Workspaces of the organization.');
  addLeaf(workspaces, terminal, {
    usage: 'list',
    description: 'List the workspaces that you reach, with the slugs that other commands take.',
    action: async (run) => {
      const { client, output, terminal } = run;
      for (const workspace of await client.workspaces.list({ organizationId: await findOrganization(run) }, { signal: terminal.signal })) {
        const { id, slug, name } = workspace;
        output.show(workspace, `${id}  ${slug.padEnd(20)}  ${plain(name)}`);
      }
    },
  });
}
