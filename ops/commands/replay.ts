import { mainTaskQueue } from '../../contract/intents/definitions.ts';
import type { ReplayInput, ReplayProgress } from '../../contract/intents/inputs.ts';
import { jobKinds } from '../../contract/jobs.ts';
import type { Db } from '../../db/connect.ts';
import { countReplayable, requestReplay } from '../../domain/jobs/replay-jobs.ts';
import { findSuspension } from '../../domain/organizations/suspension.ts';
import { describeDryRun, describeReplay, isReplayLimited, replayDefaults } from '../../workflows/replay-progress.ts';
import { type Command, parseCount, parseFlags, parseTime, UsageError } from '../command.ts';
import { callTemporal, type OpsContext, OpsError } from '../context.ts';
import { findOrganization } from '../find-rows.ts';
import { followWorkflow, uiLink } from '../follow.ts';

const flags = {
  all: { type: 'boolean' },
  organization: { type: 'string' },
  kind: { type: 'string' },
  error: { type: 'string' },
  from: { type: 'string' },
  to: { type: 'string' },
  'dry-run': { type: 'boolean' },
  'per-minute': { type: 'string' },
  limit: { type: 'string' },
  'requested-by': { type: 'string' },
  follow: { type: 'boolean' },
  json: { type: 'boolean' },
} as const;

export const replayCommand: Command = {
  usage:
    'replay --all | [--organization ID|SLUG] [--kind KIND] [--error CODE] [--from TIME] [--to TIME] [--dry-run] ' +
    '[--per-minute N] [--limit N] [--requested-by NAME] [--follow] [--json]',
  summary:
    `Retry failed jobs by filter, or --all: at most --limit of them (default ${replayDefaults.limit}), --per-minute of them each ` +
    `minute (default ${replayDefaults.perMinute}). --dry-run counts up to the same limit; --follow waits for the end.`,
  flags,
  async run(args, context) {
    const values = parseFlags(args, flags);
    const { follow = false, json = false } = values;
    const input = readInput(values);
    checkIntended(values);
    if (input.organizationId !== undefined) input.organizationId = await findNotSuspended(context.db, input.organizationId);
    if (values['dry-run']) return await countOnly(context, input, json);
    const workflowId = `replay-${new Date().toISOString().replaceAll(/[:.]/g, '-')}`;
    await requestReplay(context.db, { id: workflowId, input });
    await callTemporal(context, () =>
      context.temporal.workflow.start('replayFailedJobs', { taskQueue: mainTaskQueue, workflowId, args: [input] }),
    );
    const url = uiLink(context, workflowId);
    if (!json) context.print(`Failed jobs are retried: ${url}`);
    const progress = follow
      ? await followWorkflow(context, workflowId, { name: 'replay', isNews: ({ matched }) => matched > 0, tell: json ? () => {} : tell })
      : null;
    if (json) context.print(JSON.stringify({ workflowId, url, progress, limitReached: progress && isReplayLimited(progress, input) }));

    function tell(now: ReplayProgress): void {
      context.print(describeReplay(now, input));
    }
  },
};

/** The id of an organization whose jobs may be retried. Throws OpsError if there is none, or it is suspended. */
async function findNotSuspended(db: Db, idOrSlug: string): Promise<string> {
  const id = await findOrganization(db, idOrSlug);
  if (await findSuspension(db, id))
    throw new OpsError(`The organization ${idOrSlug} is suspended: none of its jobs is retried until that ends.`);
  return id;
}

/** One statement, which needs neither Temporal nor a worker. */
async function countOnly({ db, print }: OpsContext, input: ReplayInput, json: boolean): Promise<void> {
  const matched = await countReplayable(db, input, input.limit ?? replayDefaults.limit);
  const progress: ReplayProgress = { matched, retried: 0, skipped: {}, after: null };
  if (json) print(JSON.stringify({ workflowId: null, url: null, progress, limitReached: isReplayLimited(progress, input) }));
  else print(describeDryRun(progress, input));
}

type Values = ReturnType<typeof parseFlags<typeof flags>>;

function readInput(values: Values): ReplayInput {
  const { organization, error, 'requested-by': requestedBy } = values;
  const kind = jobKinds.find((one) => one === values.kind);
  if (values.kind !== undefined && kind === undefined) throw new UsageError(`--kind is one of ${jobKinds.join(', ')}.`);
  const input = {
    organizationId: organization,
    kind,
    errorCode: error,
    from: parseTime('from', values.from),
    to: parseTime('to', values.to),
    perMinute: parseCount('per-minute', values['per-minute']),
    limit: parseCount('limit', values.limit),
    requestedBy,
  };
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined));
}

/** Each retry is charged, so nothing is retried that was not asked for. Throws UsageError. */
function checkIntended({ all, organization, kind, error, from, to }: Values): void {
  const isFiltered = [organization, kind, error, from, to].some((value) => value !== undefined);
  if (!isFiltered && !all) {
    throw new UsageError(
      'Which jobs? Name at least one filter, or --all. If you did, put `--` before the flags: npm takes those for itself.',
    );
  }
  if (isFiltered && all) throw new UsageError('--all and filters exclude each other.');
}
