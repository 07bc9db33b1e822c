import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { extname, resolve } from 'node:path';
import type { Command } from 'commander';
import type { Document } from '../../index.ts';
import { type AtOnce, forEachAtOnce } from '../at-once.ts';
import { Failure } from '../failure.ts';
import { addLeaf, integer, workspaceOption } from '../leaf.ts';
import { createProgress } from '../progress.ts';
import { findOrganization, type Run, readPages, requireWorkspace } from '../run.ts';
import { type Plan, pathOfStep, planSync } from '../sync/plan-sync.ts';
import { type FolderNow, readFolder } from '../sync/read-folder.ts';
import { type Syncing, type SyncOutcome, takeStep } from '../sync/take-step.ts';
import { createTally } from '../tally.ts';
import { plain, type Terminal } from '../terminal.ts';
import { isEmpty } from '../upload/upload-files.ts';

interface Options {
  workspace?: string;
  source?: string;
  index?: boolean;
  dryRun?: boolean;
  deleteMore?: boolean;
  concurrency: number;
}

const words = {
  uploaded: 'uploaded',
  replaced: 'replaced',
  moved: 'moved',
  unchanged: 'unchanged',
  deleted: 'deleted',
  skipped: 'skipped',
};
/** More than one of so many documents are not deleted unasked: the folder may be half written, or not mounted. */
const bound = 5;
/** The longest tag, in characters. */
const longestTag = 64;

/** `sheaf sync`. */
export function addSync(program: Command, terminal: Terminal): void {
  addLeaf<Options>(program, terminal, {
    usage: 'sync <folder>',
    description:
      'Keep a workspace true to a folder: upload what is new, replace what has changed, delete what sync has uploaded and whose file is gone. The same command goes on after Ctrl-C or a crash.',
    options: (command) =>
      command
        .addOption(workspaceOption())
        .option('--source <name>', 'what the folder is called, by which its documents are known; its absolute path if you do not say')
        .option('--index', 'queue a job for each new document that makes it searchable')
        .option('--dry-run', 'only say what would be done')
        .option('--delete-more', 'also delete if more than a fifth of the documents would go')
        .option('--concurrency <number>', 'how many files are read and sent at once', integer(1), 4),
    patient: true,
    action: sync,
  });
}

async function sync(run: Run, options: Options, [folder = '']: string[]): Promise<void> {
  const { client, terminal } = run;
  const { signal } = terminal;
  if (!(await stat(folder).catch(() => undefined))?.isDirectory()) throw new Failure(`${folder} is no folder, or cannot be read.`);
  const place = { organizationId: await findOrganization(run), workspaceId: await requireWorkspace(run, options.workspace) };
  const tag = tagOf(options.source ?? resolve(folder));
  const documents: Document[] = [];
  const read = (cursor = {}) => client.documents.list({ ...place, tag, status: 'ready', limit: 200, ...cursor }, { signal });
  for await (const document of readPages(undefined, read)) documents.push(document);
  const atOnce = { concurrency: options.concurrency, stopping: signal };
  const progress = createProgress(terminal);
  const now = await readFolder(folder, atOnce, (files) => progress.show(`${files} files read`));
  progress.clear();
  signal.throwIfAborted();
  const plan = planSync(now, documents);
  if (options.dryRun) sayPlan(run, plan, now);
  if (plan.gone * bound > plan.documents && !options.deleteMore)
    throw new Failure(
      `The files of ${plan.gone} of the ${plan.documents} documents are gone. Nothing was changed. If the folder is whole, --delete-more deletes them.`,
    );
  const job = options.index ? 'document.index' : undefined;
  if (!options.dryRun) await carryOut(run, { ...plan, ...now }, { workspaceId: place.workspaceId, tag, job, ...atOnce });
}

async function carryOut(
  { client, output, terminal }: Run,
  { steps, passed }: Plan & FolderNow,
  { concurrency, stopping, ...how }: Omit<Syncing, 'client' | 'onSent'> & AtOnce,
): Promise<void> {
  const tally = createTally(terminal, output, { words, verb: 'synchronized', total: steps.length + passed.length });
  const skipped = new Map<string, number>();
  const add = (outcome: SyncOutcome) => {
    if (outcome.status === 'skipped') {
      const kind = outcome.reason === isEmpty ? 'empty' : extname(outcome.path) || 'no extension';
      skipped.set(kind, (skipped.get(kind) ?? 0) + 1);
    }
    tally.add(outcome);
  };
  try {
    await tally.during(async () => {
      passed.forEach(add);
      const syncing = { ...how, client, onSent: tally.move };
      await forEachAtOnce(steps.values(), { concurrency, stopping }, async (step) => add(await takeStep(syncing, step)));
    });
  } finally {
    const kinds = [...skipped].map(([kind, count]) => `${kind} (${count})`);
    if (kinds.length > 0 && !output.isJson) output.note(plain(`Skipped: ${kinds.join(', ')}.`));
  }
}

function sayPlan({ output }: Run, { steps }: Plan, { passed }: FolderNow): void {
  const said = [
    ...steps.filter(({ action }) => action !== 'keep').map((step) => ({ action: step.action, path: pathOfStep(step) })),
    ...passed.map(({ status, path }) => ({ action: status === 'skipped' ? 'skip' : 'fail', path })),
  ];
  for (const step of said) output.show(step, plain(`${step.action.padEnd(8)}  ${step.path}`));
  if (said.length === 0) output.note('Nothing has changed.');
}

/** The tag of what is made of a folder: a long name is hashed. */
function tagOf(source: string): string {
  const tag = `sync:${source}`;
  return tag.length <= longestTag ? tag : `sync:${createHash('sha256').update(source).digest('base64url')}`;
}
