import type { Command } from 'commander';
import { exportDocuments } from '../export/export-documents.ts';
import { addLeaf, integer, several, workspaceOption } from '../leaf.ts';
import { findOrganization, type Run, requireWorkspace } from '../run.ts';
import { createTally } from '../tally.ts';
import type { Terminal } from '../terminal.ts';

interface Options {
  workspace?: string;
  tag?: string[];
  concurrency: number;
}

const words = { exported: 'exported', unchanged: 'already there', skipped: 'deleted meanwhile' };

/** `sheaf export`. */
export function addExport(program: Command, terminal: Terminal): void {
  addLeaf<Options>(program, terminal, {
    usage: 'export <folder>',
    description:
      'Write the documents of a workspace into a folder: originals, texts and `documents.jsonl`, which says the rest. What is there already is not fetched again, so the same command goes on after Ctrl-C or a crash.',
    options: (command) =>
      command
        .addOption(workspaceOption())
        .option('--tag <tag>', 'only documents with this tag; may be given several times', several)
        .option('--concurrency <number>', 'how many documents are fetched at once', integer(1), 4),
    patient: true,
    action: exportAll,
  });
}

async function exportAll(run: Run, { workspace, tag: tags, concurrency }: Options, [directory = '']: string[]): Promise<void> {
  const { client, retries, output, terminal } = run;
  const place = { organizationId: await findOrganization(run), workspaceId: await requireWorkspace(run, workspace) };
  const tally = createTally(terminal, output, { words, verb: 'exported' });
  await tally.during(() =>
    exportDocuments({
      ...{ client, retries, ...place, tags, directory, concurrency },
      stopping: terminal.signal,
      onReceived: tally.move,
      onOutcome: tally.add,
    }),
  );
}
