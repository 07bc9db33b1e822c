import type { Command } from 'commander';
import { isFinal, type Job, type JobEvent, type JobKind, type JobStatus } from '../../index.ts';
import { forEachId } from '../each-id.ts';
import { exitCodes, Failure } from '../failure.ts';
import { addLeaf, choice, integer } from '../leaf.ts';
import { findOrganization, findWorkspace, type Run, readPages } from '../run.ts';
import { type Output, plain, type Style, type Terminal } from '../terminal.ts';

interface ListOptions {
  workspace?: string;
  document?: string;
  kind?: JobKind;
  status?: JobStatus;
  limit: number;
}

/** `sheaf jobs list|watch|retry`. */
export function addJobs(program: Command, terminal: Terminal): void {
  const jobs = program.command('jobs').description('Work on documents and texts.');
  addLeaf<ListOptions>(jobs, terminal, {
    usage: 'list',
    description: 'List jobs, newest first.',
    options: (command) =>
      command
        .option('--workspace <id>', 'only those of this workspace, by its id or slug')
        .option('--document <id>', 'only those of this document')
        .option('--kind <kind>', 'only those of this kind, such as document.extract')
        .addOption(choice('--status <status>', 'only those with this status', Object.keys(colors)))
        .option('--limit <number>', 'how many at the most', integer(1), 25),
    action: list,
  });
  addLeaf<Pick<ListOptions, 'workspace'>>(jobs, terminal, {
    usage: 'watch [id...]',
    description: 'Print each change of a job, until Ctrl-C; with ids until these jobs have ended. Exits 5 if one of them did not succeed.',
    options: (command) => command.option('--workspace <id>', 'only those of this workspace, by its id or slug'),
    patient: true,
    action: watch,
  });
  addLeaf(jobs, terminal, {
    usage: 'retry <id...>',
    description: 'Queue failed jobs again, as new ones, which are charged again.',
    action: retry,
  });
}

async function list(run: Run, { workspace, document, kind, status, limit }: ListOptions): Promise<void> {
  const { client, output, terminal } = run;
  const filter = {
    ...(await findScope(run, workspace)),
    limit: Math.min(limit, 100),
    ...(document ? { documentId: document } : {}),
    ...(kind ? { kind } : {}),
    ...(status ? { status } : {}),
  };
  const read = (cursor = {}) => client.jobs.list({ ...filter, ...cursor }, { signal: terminal.signal });
  for await (const job of readPages(limit, read)) output.show(job, say(output, job));
}

/** The jobs of a workspace, or of the whole organization. */
async function findScope(run: Run, workspace: string | undefined): Promise<{ organizationId: string; workspaceId?: string }> {
  const workspaceId = await findWorkspace(run, workspace);
  return { organizationId: await findOrganization(run), ...(workspaceId ? { workspaceId } : {}) };
}

async function watch(run: Run, { workspace }: Pick<ListOptions, 'workspace'>, ids: string[]): Promise<void> {
  const { client, output, terminal } = run;
  const { signal } = terminal;
  const events = await client.jobs.stream(await findScope(run, workspace), { signal });
  const waiting = new Set(ids);
  let unsuccessful = 0;
  const see = (job: Omit<Job, 'input' | 'result'> | JobEvent) => {
    if (ids.length > 0 && !waiting.has(job.id)) return;
    output.show(job, say(output, job));
    if (!isFinal(job)) return;
    waiting.delete(job.id);
    if (job.status !== 'succeeded') unsuccessful += 1;
  };
  try {
    // Read after the stream is open: a job that ends in between is in one of the two.
    for (const id of ids) see(await client.jobs.get({ id }, { signal }));
    if (ids.length === 0 || waiting.size > 0) {
      for await (const event of events) {
        see(event);
        if (ids.length > 0 && waiting.size === 0) break;
      }
    }
  } finally {
    // Its connection would keep the program alive.
    await events.return();
  }
  signal.throwIfAborted();
  if (unsuccessful > 0) throw new Failure(`${unsuccessful} of ${ids.length} jobs did not succeed.`, exitCodes.partly);
}

async function retry(run: Run, _options: object, ids: string[]): Promise<void> {
  const { client, output, terminal } = run;
  await forEachId(run, ids, 'retried', async (id) => {
    const job = await client.jobs.retry({ id }, { signal: terminal.signal });
    output.show(job, say(output, job));
  });
}

const colors: Record<JobStatus, Style> = { queued: 'dim', running: 'yellow', succeeded: 'green', failed: 'red', canceled: 'dim' };

function say(output: Output, { id, createdAt, status, kind, error }: Pick<Job, 'id' | 'createdAt' | 'status' | 'kind' | 'error'>): string {
  const why = error && status !== 'succeeded' ? `  ${plain(`${error.code}: ${error.message}`)}` : '';
  return `${id}  ${createdAt}  ${output.paint(colors[status], status.padEnd(9))}  ${kind}${why}`;
}
