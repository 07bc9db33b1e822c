import { jobKinds } from '../../contract/jobs.ts';
import { mainTaskQueue, type ReplayInput, type ReplayProgress } from '../../workflows/definitions.ts';
import { type Command, parseCount, parseFlags, parseTime, UsageError } from '../command.ts';
import { callTemporal } from '../context.ts';
import { followWorkflow, uiLink } from '../follow.ts';

const flags = {
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
    'replay [--organization ID] [--kind KIND] [--error CODE] [--from TIME] [--to TIME] [--dry-run] ' +
    '[--per-minute N] [--limit N] [--requested-by NAME] [--follow] [--json]',
  summary: 'Retry failed jobs by filter, at a pace. --dry-run counts; --follow waits for the end.',
  async run(args, context) {
    const values = parseFlags(args, flags);
    const { follow = false, json = false } = values;
    const input = readInput(values);
    const workflowId = `replay-${new Date().toISOString().replaceAll(/[:.]/g, '-')}`;
    await callTemporal(context, () =>
      context.temporal.workflow.start('replayFailedJobs', { taskQueue: mainTaskQueue, workflowId, args: [input] }),
    );
    const url = uiLink(context, workflowId);
    if (!json) context.print(url);
    // The point of a dry run is its count.
    const progress =
      follow || input.dryRun
        ? await followWorkflow(context, workflowId, { name: 'replay', isNews: ({ matched }) => matched > 0, tell: json ? () => {} : tell })
        : null;
    if (json) context.print(JSON.stringify({ workflowId, url, progress }));

    function tell(now: ReplayProgress): void {
      context.print(describe(now, input.dryRun === true));
    }
  },
};

type Values = ReturnType<typeof parseFlags<typeof flags>>;

function readInput(values: Values): ReplayInput {
  const { organization, error, 'dry-run': dryRun, 'requested-by': requestedBy } = values;
  const kind = jobKinds.find((one) => one === values.kind);
  if (values.kind !== undefined && kind === undefined) throw new UsageError(`--kind is one of ${jobKinds.join(', ')}.`);
  const input = {
    organizationId: organization,
    kind,
    errorCode: error,
    from: parseTime('from', values.from),
    to: parseTime('to', values.to),
    dryRun,
    perMinute: parseCount('per-minute', values['per-minute']),
    limit: parseCount('limit', values.limit),
    requestedBy,
  };
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined));
}

function describe({ matched, retried, skipped }: ReplayProgress, dryRun: boolean): string {
  if (dryRun) return `${matched} would be retried`;
  const reasons = Object.entries(skipped).map(([reason, count]) => `, ${count} not: ${reason}`);
  return `${retried} of ${matched} retried${reasons.join('')}`;
}
