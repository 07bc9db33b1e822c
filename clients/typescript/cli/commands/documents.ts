import type { Command } from 'commander';
import type { Contract, Document, InputOf } from '../../index.ts';
import { forEachId } from '../each-id.ts';
import { addLeaf, choice, integer, several, workspaceOption } from '../leaf.ts';
import { findOrganization, type Run, readPages, requireWorkspace } from '../run.ts';
import { plain, type Terminal } from '../terminal.ts';

type Sort = NonNullable<InputOf<Contract['documents']['list']>['sort']>;

interface ListOptions {
  workspace?: string;
  tag?: string[];
  status?: Document['status'];
  name?: string;
  sort?: Sort;
  limit?: number;
}

const sorts: Sort[] = ['createdAt', '-createdAt', 'name', '-name', 'size', '-size'];

/** `sheaf documents list|get|delete`. */
export function addDocuments(program: Command, terminal: Terminal): void {
  const documents = program.command('documents').description('Documents of a workspace.');
  addLeaf<ListOptions>(documents, terminal, {
    usage: 'list',
    description: 'List documents, newest first unless --sort says otherwise.',
    options: (command) =>
      command
        .addOption(workspaceOption())
        .option('--tag <tag>', 'only those with this tag; may be given several times', several)
        .addOption(choice('--status <status>', 'only those with this status', ['pending', 'ready']))
        .option('--name <part>', 'only those whose name contains this')
        .addOption(choice('--sort <order>', 'the order; - reverses it', sorts))
        .option('--limit <number>', 'how many at the most; all if you do not say', integer(1)),
    action: list,
  });
  addLeaf<{ text?: boolean }>(documents, terminal, {
    usage: 'get <id>',
    description: 'Show a document, or its text.',
    options: (command) => command.option('--text', 'the text that was extracted, instead of the document'),
    action: get,
  });
  addLeaf(documents, terminal, {
    usage: 'delete <id...>',
    description: 'Delete documents with their texts.',
    action: async (run, _options, ids) => {
      const { client, output, terminal } = run;
      await forEachId(run, ids, 'deleted', async (id) =>
        output.show(await client.documents.delete({ id }, { signal: terminal.signal }), `Deleted ${id}.`),
      );
    },
  });
}

async function list(run: Run, { workspace, tag, status, name, sort, limit }: ListOptions): Promise<void> {
  const { client, output, terminal } = run;
  const filter = {
    organizationId: await findOrganization(run),
    workspaceId: await requireWorkspace(run, workspace),
    limit: Math.min(limit ?? 200, 200),
    ...(tag ? { tag } : {}),
    ...(status ? { status } : {}),
    ...(name ? { name } : {}),
    ...(sort ? { sort } : {}),
  };
  const read = (cursor = {}) => client.documents.list({ ...filter, ...cursor }, { signal: terminal.signal });
  for await (const document of readPages(limit, read)) {
    const { id, size, status: ready, indexedAt, name, failedJob } = document;
    const state = failedJob ? 'failed' : indexedAt ? 'indexed' : ready;
    const why = failedJob ? `  ${plain(sayFailed(failedJob))}` : '';
    output.show(document, `${id}  ${state.padEnd(7)}  ${String(size).padStart(10)}  ${plain(name)}${why}`);
  }
}

/** What of a document has failed, and why. */
function sayFailed({ kind, error }: NonNullable<Document['failedJob']>): string {
  return `${kind} failed${error ? `: ${error.message}` : ''}`;
}

async function get(
  { client, output, terminal: { signal } }: Run,
  { text: wantsText }: { text?: boolean },
  [id = '']: string[],
): Promise<void> {
  if (wantsText) {
    const found = await client.documents.text({ id }, { signal });
    if (found.text === null && !output.isJson) output.note('No text was extracted yet.');
    return output.show(found, plain(found.text ?? ''));
  }
  const document = await client.documents.get({ id }, { signal });
  const { name, status, contentType, size, createdAt, indexedAt, extracted, tags, failedJob } = document;
  const rows = Object.entries({
    id,
    name,
    status,
    type: contentType,
    bytes: size,
    created: createdAt,
    text: extracted ? `${extracted.characters} characters${extracted.pages === null ? '' : `, ${extracted.pages} pages`}` : 'not extracted',
    indexed: indexedAt ?? 'no',
    tags: tags.join(', '),
    ...(failedJob ? { failed: sayFailed(failedJob) } : {}),
  });
  output.show(document, rows.map(([field, value]) => `${field.padEnd(8)}  ${plain(String(value))}`).join('\n'));
}
