import { continueAsNew, defineQuery, proxyActivities, setCurrentDetails, setHandler, sleep, workflowInfo } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import { queries, type ReindexInput, type ReindexProgress } from './definitions.ts';

const progressQuery = defineQuery<ReindexProgress>(queries.progress);

const retry = { initialInterval: '5 seconds', maximumInterval: '1 minute' } as const;
const activities = proxyActivities<Activities>({ startToCloseTimeout: '5 minutes', heartbeatTimeout: '1 minute', retry });
/** One document may have two thousand chunks, and a local model embeds one in a second. */
const slow = proxyActivities<Activities>({ startToCloseTimeout: '6 hours', heartbeatTimeout: '1 minute', retry });

const defaultPerMinute = 600;
const mostPerBatch = 50;
/** Documents that are indexed while their workspace is embedded are embedded in another round. */
const mostRounds = 5;
const mostNamed = 20;

/**
 * Embeds documents anew that are indexed with another model, other dimensions or other chunks than the AI service would make now: workspace by
 * workspace, so many documents each minute. Searches go on by the old vectors until all documents of a workspace have new ones; then all are
 * switched at once. It charges nobody. What was embedded before it was broken off is not embedded again. A dry run only
 * counts. Operators start it with `npm run ops -- reindex`, or in Temporal's UI or CLI.
 */
export async function reindexDocuments(input: ReindexInput = {}): Promise<ReindexProgress> {
  const { dryRun = false } = input;
  const target = input.target ?? (await slow.readReindexTarget());
  const progress: ReindexProgress = input.progress ?? { ...nothing, target };
  setHandler(progressQuery, () => progress);
  if (!input.progress && !dryRun) await activities.recordReindex({ run: workflowInfo().firstExecutionRunId, input });
  const scope = { workspaceId: input.workspaceId, organizationId: input.organizationId };
  for (;;) {
    const workspaceId = await activities.nextWorkspaceBehind({ scope, target, after: progress.after });
    if (workspaceId === null) break;
    await reindexWorkspace(workspaceId, input, progress);
    progress.after = workspaceId;
    setCurrentDetails(describe(progress, dryRun));
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof reindexDocuments>({ ...input, target, progress });
  }
  setCurrentDetails(describe(progress, dryRun));
  return progress;
}

const nothing = { workspaces: 0, behind: 0, embedded: 0, chunks: 0, switched: 0, kept: 0, failed: [], failures: 0, after: '' };

async function reindexWorkspace(workspaceId: string, input: ReindexInput, progress: ReindexProgress): Promise<void> {
  const { target } = progress;
  const { behind } = await activities.countBehind({ workspaceId, target });
  progress.workspaces += 1;
  progress.behind += behind;
  if (input.dryRun) return;
  for (let round = 1; round <= mostRounds; round += 1) {
    const failed = await stageWorkspace(workspaceId, input, progress);
    if (failed) break;
    const result = await slow.switchWorkspace({ workspaceId, target });
    if ('gone' in result) return;
    if ('switched' in result) {
      progress.switched += result.switched;
      return;
    }
  }
  progress.kept += 1;
}

/** Whether there are documents that cannot be embedded, for which their workspace keeps its old vectors. */
async function stageWorkspace(
  workspaceId: string,
  { perMinute = defaultPerMinute }: ReindexInput,
  progress: ReindexProgress,
): Promise<boolean> {
  const limit = Math.max(1, Math.min(mostPerBatch, Math.ceil(perMinute / 6)));
  let failures = 0;
  for (let after = ''; ; ) {
    const batch = await slow.stageDocuments({ workspaceId, target: progress.target, after, limit });
    progress.embedded += batch.staged;
    progress.chunks += batch.chunks;
    failures += batch.failed.length;
    progress.failures += batch.failed.length;
    progress.failed.push(...batch.failed.slice(0, Math.max(0, mostNamed - progress.failed.length)));
    setCurrentDetails(describe(progress, false));
    if (batch.last || batch.after === null) return failures > 0;
    after = batch.after;
    await sleep((limit / perMinute) * 60_000);
  }
}

function describe({ target, workspaces, behind, embedded, switched, kept, failures, failed }: ReindexProgress, dryRun: boolean): string {
  const to = `${target.model}, ${target.dimensions} dimensions`;
  if (dryRun) return `${behind} documents of ${workspaces} workspaces would be embedded anew by ${to}.`;
  const lines = [
    `Embedded ${embedded} of ${behind} documents of ${workspaces} workspaces so far by ${to}; ${switched} are searched by it.`,
  ];
  if (kept > 0) lines.push(`${kept} workspaces keep their old vectors: ${failures} documents cannot be embedded.`);
  lines.push(...failed.map(({ documentId, code }) => `${documentId}: ${code}`));
  return lines.join('\n');
}
