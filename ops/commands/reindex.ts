import { WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { mainTaskQueue } from '../../contract/intents/definitions.ts';
import type { ReindexInput, ReindexProgress } from '../../contract/intents/inputs.ts';
import { type Command, parseCount, parseFlags, UsageError } from '../command.ts';
import { callTemporal, OpsError } from '../context.ts';
import { assertWorkspace, findOrganization } from '../find-rows.ts';
import { followWorkflow, uiLink } from '../follow.ts';
import { counted } from '../table.ts';

const flags = {
  workspace: { type: 'string' },
  organization: { type: 'string' },
  all: { type: 'boolean' },
  'dry-run': { type: 'boolean' },
  'per-minute': { type: 'string' },
  'requested-by': { type: 'string' },
  follow: { type: 'boolean' },
  json: { type: 'boolean' },
} as const;

export const reindexCommand: Command = {
  usage: 'reindex (--all | --organization ID|SLUG | --workspace ID) [--dry-run] [--per-minute N] [--requested-by NAME] [--follow] [--json]',
  summary: 'Embed documents anew that another model has indexed. Searches go on; nobody is charged. --dry-run counts.',
  flags,
  async run(args, context) {
    const values = parseFlags(args, flags);
    const { follow = false, json = false } = values;
    const input = readInput(values);
    if (input.organizationId !== undefined) input.organizationId = await findOrganization(context.db, input.organizationId);
    if (input.workspaceId !== undefined) await assertWorkspace(context.db, input.workspaceId);
    // One at a time: two would embed the same documents.
    const workflowId = input.dryRun ? `reindex-dry-run-${Date.now()}` : 'reindex';
    await callTemporal(context, () =>
      context.temporal.workflow.start('reindexDocuments', { taskQueue: mainTaskQueue, workflowId, args: [input] }),
    ).catch((error: unknown) => {
      throw error instanceof WorkflowExecutionAlreadyStartedError
        ? new OpsError(`A re-embedding is under way: ${uiLink(context, workflowId)}`)
        : error;
    });
    const url = uiLink(context, workflowId);
    if (!json) context.print(`${input.dryRun ? 'A count, which embeds nothing' : 'Documents are embedded anew'}: ${url}`);
    const tell = (now: ReindexProgress) => (json ? undefined : context.print(describeReindex(now, input.dryRun === true)));
    const progress =
      follow || input.dryRun
        ? await followWorkflow(context, workflowId, { name: 're-embedding', isNews: ({ behind }) => behind > 0, tell })
        : null;
    if (json) context.print(JSON.stringify({ workflowId, url, progress }));
  },
};

function readInput(values: ReturnType<typeof parseFlags<typeof flags>>): ReindexInput {
  const { workspace, organization, all, 'dry-run': dryRun, 'requested-by': requestedBy } = values;
  if ([workspace, organization, all].filter((one) => one !== undefined).length !== 1) {
    throw new UsageError('Name what to embed: --all, --organization ID|SLUG or --workspace ID.');
  }
  const input = {
    workspaceId: workspace,
    organizationId: organization,
    dryRun,
    perMinute: parseCount('per-minute', values['per-minute']),
    requestedBy,
  };
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined));
}

/** The progress of a re-embedding in lines; for a dry run, what it would do. */
export function describeReindex(progress: ReindexProgress, dryRun: boolean): string {
  const { target, workspaces, behind, embedded, switched, kept, unswitched, unswitchedIds = [], failed } = progress;
  const to = `${target.model}, ${target.dimensions} dimensions`;
  if (dryRun)
    return `${counted(behind, 'document')} of ${counted(workspaces, 'workspace')} would be embedded by ${to}; nobody would be charged`;
  const lines = [`${embedded} of ${counted(behind, 'document')} embedded by ${to}, ${switched} switched`];
  if (unswitched > 0) {
    lines.push(`${unswitched} workspaces keep their old vectors: they changed all the while, or could not be switched. Start it again:`);
    lines.push(...unswitchedIds.map((workspaceId) => `  ${workspaceId}`));
  }
  if (kept > unswitched)
    lines.push(`${kept - unswitched} workspaces keep their old vectors, because of documents that cannot be embedded:`);
  lines.push(...failed.map(({ documentId, code }) => `  ${documentId}: ${code}`));
  return lines.join('\n');
}
