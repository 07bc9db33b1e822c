import { z } from 'zod';
import { contract } from '../../contract/index.ts';
import type { RouteOutput } from '../../contract/route.ts';
import { organizationsOf } from '../caller.ts';
import { countFitting } from './fit.ts';
import { defineTool } from './tool.ts';

export const listWorkspaces = defineTool({
  name: 'list_workspaces',
  title: 'List workspaces',
  description:
    'The workspaces that you reach, by name within each organization; `left` more are not listed. Documents are searched and listed within one of them.',
  operations: [contract.workspaces.list],
  writes: false,
  input: z.object({}),
  async call(_input, { caller, procedures, run }) {
    const workspaces: RouteOutput<typeof contract.workspaces.list> = [];
    for (const organizationId of organizationsOf(caller)) workspaces.push(...(await run(procedures.workspaces.list, { organizationId })));
    const shown = workspaces.map(({ id, name, slug, organizationId }) => ({ id, name, slug, organizationId }));
    const count = countFitting(shown);
    return { workspaces: shown.slice(0, count), left: shown.length - count };
  },
});
