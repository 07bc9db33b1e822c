import {
  continueAsNew,
  defineQuery,
  isCancellation,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import { queries } from '../contract/intents/definitions.ts';
import type { ReindexInput, ReindexProgress } from '../contract/intents/inputs.ts';
import type { Switched } from '../domain/reindex/switch-workspace.ts';
import { carried, checkInput, count, flag, text } from './check-input.ts';

const progressQuery = defineQuery<ReindexProgress>(queries.progress);

const retry = { initialInterval: '5 seconds', maximumInterval: '1 minute' } as const;
const activities = proxyActivities<Activities>({ startToCloseTimeout: '5 minutes', heartbeatTimeout: '1 minute', retry });
/** A document may have two thousand chunks, and a local model embeds one per second. */
const slow = proxyActivities<Activities>({ startToCloseTimeout: '6 hours', heartbeatTimeout: '1 minute', retry });
/**
 * Nobody can change documents of the workspace during a switch. The last attempt comes seven minutes after the first, so that a restart of
 * the database does not discard the embedded chunks.
 */
const { switchWorkspace } = proxyActivities<Activities>({
  startToCloseTimeout: '1 hour',
  heartbeatTimeout: '1 minute',
  retry: { initialInterval: '1 minute', backoffCoefficient: 2, maximumAttempts: 4 },
});

const defaultPerMinute = 600;
const maxPerBatch = 50;
/** Documents that are indexed meanwhile are embedded in another round. */
const maxRounds = 5;
const maxNamed = 20;

const fields = {
  ...{ workspaceId: text, organizationId: text, dryRun: flag, perMinute: count, requestedBy: text },
  ...{ target: carried, progress: carried },
};

/**
 * Embeds documents again whose model, dimensions or chunks differ from those of the AI service now: one workspace after another, at a
 * limited rate. A workspace is switched at once when all its documents have new vectors. Charges nobody. A dry run only counts. Throws
 * InvalidInput. Started by `npm run ops -- reindex`, or in Temporal's UI or CLI.
 */
export async function reindexDocuments(input: ReindexInput = {}): Promise<ReindexProgress> {
  checkInput(input, fields);
  const { dryRun = false } = input;
  const scope = { workspaceId: input.workspaceId, organizationId: input.organizationId };
  const target = input.target ?? (await slow.readReindexTarget());
  const progress: ReindexProgress = input.progress ?? { ...nothing, failed: [], target };
  setHandler(progressQuery, () => progress);
  if (!input.progress && !dryRun) await activities.recordReindex({ run: workflowInfo().firstExecutionRunId, input });
  for (;;) {
    const workspaceId = await activities.nextWorkspaceBehind({ scope, target, after: progress.after });
    if (workspaceId === null) break;
    await reindexWorkspace(workspaceId, input, progress);
    progress.after = workspaceId;
    progress.current = undefined;
    setCurrentDetails(describe(progress, dryRun));
    await continueIfLong(input, progress);
  }
  setCurrentDetails(describe(progress, dryRun));
  return progress;
}

const nothing = { workspaces: 0, behind: 0, embedded: 0, chunks: 0, switched: 0, kept: 0, unswitched: 0, failures: 0, after: '' };

/** Continues as new if the history is long, also in the middle of a workspace. */
async function continueIfLong(input: ReindexInput, progress: ReindexProgress): Promise<void> {
  if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof reindexDocuments>({ ...input, target: progress.target, progress });
}

async function reindexWorkspace(workspaceId: string, input: ReindexInput, progress: ReindexProgress): Promise<void> {
  const { target } = progress;
  if (progress.current?.workspaceId !== workspaceId) {
    const { behind } = await activities.countBehind({ workspaceId, target });
    progress.workspaces += 1;
    progress.behind += behind;
    progress.current = { workspaceId, round: 1, after: '', failures: 0 };
  }
  if (input.dryRun) return;
  for (const { current } = progress; current.round <= maxRounds; current.round += 1) {
    await stageWorkspace(current, input, progress);
    if (current.failures > 0) {
      progress.kept += 1;
      return;
    }
    const result = await trySwitch(workspaceId, target);
    if ('gone' in result) return;
    if ('switched' in result) {
      progress.switched += result.switched;
      return;
    }
    if ('failed' in result) break;
    current.after = '';
  }
  progress.kept += 1;
  progress.unswitched += 1;
  progress.unswitchedIds = [...(progress.unswitchedIds ?? []), workspaceId].slice(0, maxNamed);
}

async function trySwitch(workspaceId: string, target: ReindexProgress['target']): Promise<Switched | { failed: true }> {
  try {
    return await switchWorkspace({ workspaceId, target });
  } catch (error) {
    if (isCancellation(error)) throw error;
    return { failed: true };
  }
}

/**
 * Embeds the documents of a workspace from the current position of the round on. Counts those that cannot be embedded, which make the
 * workspace keep its old vectors.
 */
async function stageWorkspace(
  current: NonNullable<ReindexProgress['current']>,
  input: ReindexInput,
  progress: ReindexProgress,
): Promise<void> {
  const { perMinute = defaultPerMinute } = input;
  const { workspaceId } = current;
  const limit = Math.max(1, Math.min(maxPerBatch, Math.ceil(perMinute / 6)));
  for (;;) {
    const batch = await slow.stageDocuments({ workspaceId, target: progress.target, after: current.after, limit });
    progress.embedded += batch.staged;
    progress.chunks += batch.chunks;
    current.failures += batch.failed.length;
    progress.failures += batch.failed.length;
    progress.failed.push(...batch.failed.slice(0, Math.max(0, maxNamed - progress.failed.length)));
    setCurrentDetails(describe(progress, false));
    if (batch.last || batch.after === null) return;
    current.after = batch.after;
    await continueIfLong(input, progress);
    await sleep((limit / perMinute) * 60_000);
  }
}

function describe(progress: ReindexProgress, dryRun: boolean): string {
  const { target, workspaces, behind, embedded, switched, kept, unswitched, unswitchedIds = [], failures, failed } = progress;
  const to = `${target.model}, ${target.dimensions} dimensions`;
  if (dryRun) return `${behind} documents of ${workspaces} workspaces would be embedded anew by ${to}.`;
  const lines = [
    `Embedded ${embedded} of ${behind} documents of ${workspaces} workspaces so far by ${to}; ${switched} are searched by it.`,
  ];
  if (unswitched > 0)
    lines.push(`${unswitched} workspaces keep their old vectors: they changed all the while, or could not be switched.`, ...unswitchedIds);
  if (kept > unswitched) lines.push(`${kept - unswitched} workspaces keep their old vectors: ${failures} documents cannot be embedded.`);
  lines.push(...failed.map(({ documentId, code }) => `${documentId}: ${code}`));
  return lines.join('\n');
}
