import { z } from 'zod';
import { contract } from '../../contract/index.ts';
import { defineTool } from './tool.ts';

export const listWorkspaces = defineTool({
  name: 'list_workspaces',
  title: 'List workspaces',
  description: 'The workspaces that this key reaches, by name. Documents are searched and listed within one of them.',
  operations: [contract.workspaces.list],
  writes: false,
  input: z.object({}),
  async call(_input, { key, procedures, run }) {
    const workspaces = await run(procedures.workspaces.list, { organizationId: key.organizationId });
    return { workspaces: workspaces.map(({ id, name, slug }) => ({ id, name, slug })) };
  },
});
