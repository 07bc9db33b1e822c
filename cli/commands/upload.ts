import type { Command } from 'commander';
import { describeError, exitCodes, Failure, interrupted, sayError } from '../failure.ts';
import { addLeaf, integer, several, workspaceOption } from '../leaf.ts';
import { findOrganization, type Run, requireWorkspace } from '../run.ts';
import { plain, type Terminal } from '../terminal.ts';
import { findFiles } from '../upload/find-files.ts';
import { createProgress } from '../upload/progress.ts';
import { type Outcome, uploadFiles } from '../upload/upload-files.ts';

interface Options {
  workspace?: string;
  index?: boolean;
  tag?: string[];
  concurrency: number;
}

/** `sheaf upload`. */
export function addUpload(program: Command, terminal: Terminal): void {
  addLeaf<Options>(program, terminal, {
    usage: 'upload <path...>',
    description:
      'Upload files and folders. Content that the workspace has from here already is not sent again, so the same command goes on after Ctrl-C or a crash, and later sends what changed.',
    options: (command) =>
      command
        .addOption(workspaceOption())
        .option('--index', 'queue a job for each document that makes it searchable')
        .option('--tag <tag>', 'a tag for what is sent; may be given several times', several)
        .option('--concurrency <number>', 'how many files are sent at once', integer(1), 4),
    patient: true,
    action: upload,
  });
}

async function upload(run: Run, { workspace, index = false, tag: tags = [], concurrency }: Options, paths: string[]): Promise<void> {
  const { client, output, terminal } = run;
  const { signal: stopping } = terminal;
  const organizationId = await findOrganization(run);
  const workspaceId = await requireWorkspace(run, workspace);
  const progress = createProgress(terminal);
  const counts = { uploaded: 0, unchanged: 0, skipped: 0, failed: 0 };
  const total = await countFiles(paths);
  let sentBytes = 0;
  const showProgress = () => {
    const done = counts.uploaded + counts.unchanged + counts.skipped + counts.failed;
    progress.show(`${done} of ${total} files, ${(sentBytes / 1e6).toFixed(1)} MB sent${counts.failed ? `, ${counts.failed} failed` : ''}`);
  };
  const onOutcome = (outcome: Outcome) => {
    counts[outcome.status] += 1;
    if (output.isJson) output.show('error' in outcome ? { ...outcome, error: describeError(outcome.error) } : outcome, '');
    else if ('error' in outcome) progress.note(plain(`${outcome.path}: ${sayError(outcome.error)}`));
    showProgress();
  };
  const onSent = (bytes: number) => {
    sentBytes += bytes;
    showProgress();
  };
  stopping.addEventListener('abort', () => progress.note('Finishing the files under way. Ctrl-C again ends at once.'), { once: true });
  // What is under way is finished; a file that was killed instead is found again by its key.
  const { signal } = new AbortController();
  const sending = { client, organizationId, workspaceId, tags, index, signal, onSent };
  try {
    await uploadFiles({ ...sending, paths, concurrency, stopping, onOutcome });
  } finally {
    progress.clear();
    const { uploaded, unchanged, skipped, failed } = counts;
    output.show(counts, `${uploaded} uploaded, ${unchanged} already there, ${skipped} skipped, ${failed} failed.`);
  }
  if (stopping.aborted) throw new Failure('Interrupted. The same command goes on from here.', interrupted);
  if (counts.failed > 0) throw new Failure(`${counts.failed} of ${total} files were not uploaded.`, exitCodes.partly);
}

async function countFiles(paths: string[]): Promise<number> {
  let count = 0;
  for await (const _ of findFiles(paths)) count += 1;
  return count;
}
