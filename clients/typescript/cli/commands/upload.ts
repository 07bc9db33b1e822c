import type { Command } from 'commander';
import type { Charset } from '../../index.ts';
import { exitCodes, Failure } from '../failure.ts';
import { addLeaf, integer, several, workspaceOption } from '../leaf.ts';
import { findOrganization, type Run, requireWorkspace } from '../run.ts';
import { createTally } from '../tally.ts';
import type { Terminal } from '../terminal.ts';
import { findFiles } from '../upload/find-files.ts';
import { uploadFiles } from '../upload/upload-files.ts';

interface Options {
  workspace?: string;
  index?: boolean;
  process?: boolean;
  wait?: boolean;
  tag?: string[];
  charset?: Charset;
  concurrency: number;
}

const words = { uploaded: 'uploaded', unchanged: 'already there', skipped: 'skipped' };

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
        .option('--process', 'queue one that makes it searchable and summarizes it, if the service has such jobs')
        .option('--wait', 'with one of these: until the jobs have ended; exits 5 if one did not succeed')
        .option('--tag <tag>', 'a tag for what is sent; may be given several times', several)
        .option('--charset <charset>', 'of the texts that are sent, such as windows-1252; found by their bytes if you do not say')
        .option('--concurrency <number>', 'how many files are sent at once', integer(1), 4),
    patient: true,
    action: upload,
  });
}

async function upload(
  run: Run,
  { workspace, index, process, wait, tag: tags = [], charset, concurrency }: Options,
  paths: string[],
): Promise<void> {
  const { client, output, terminal } = run;
  const place = { organizationId: await findOrganization(run), workspaceId: await requireWorkspace(run, workspace) };
  const job = process ? 'document.process' : index ? 'document.index' : undefined;
  if (wait && !job) throw new Failure('--wait needs --index or --process.', exitCodes.misunderstood);
  const tally = createTally(terminal, output, { words, verb: 'uploaded', total: await countFiles(paths), isDetailed: true });
  await tally.during(() =>
    uploadFiles({
      ...{ client, ...place, tags, charset, job, paths, concurrency },
      waiting: wait ? terminal.signal : undefined,
      stopping: terminal.signal,
      onSent: tally.move,
      onOutcome: tally.add,
    }),
  );
}

async function countFiles(paths: string[]): Promise<number> {
  let count = 0;
  for await (const _ of findFiles(paths)) count += 1;
  return count;
}
