import { openAsBlob } from 'node:fs';
import { type Client, createClient, type Document, type JobEvent, SheafError } from '../client/index.ts';
import type { Display } from './demo-display.ts';
import type { DemoFile } from './demo-files.ts';
import { JobFollower } from './demo-jobs.ts';
import { describeFile, describeJob, shortKind } from './demo-report.ts';
import { chooseQueries, type DemoSearch, search } from './demo-search.ts';
import type { DemoService } from './demo-service.ts';
import { createTenant, type DemoTenant } from './demo-tenant.ts';
import { formatBytes } from './demo-text.ts';

type DocumentJobKind = 'document.extract' | 'document.summarize' | 'document.index';

export interface DemoWork {
  service: DemoService;
  files: DemoFile[];
  /** What the user asks to search for. */
  queries: string[];
  samples: boolean;
  display: Display;
  signal: AbortSignal;
}

/** What the demo did. */
export interface DemoResult {
  documents: (Document & { summary: string | null })[];
  jobs: JobEvent[];
  searches: DemoSearch[];
  creditsUsed: number;
  /** Whether everything went well. */
  ok: boolean;
}

/** Takes files through the main job: upload, extract, summarize, index, search. Throws when the service cannot be used at all. */
export async function runDemo(work: DemoWork): Promise<DemoResult> {
  const { signal } = work;
  const client = createClient({ url: work.service.url });
  const tenant = await createTenant(client, signal);
  work.display.heading('A new user with an organization and a workspace');
  work.display.line(`${tenant.email}, organization ${tenant.slug}`);
  const run = new DemoRun(work, client, tenant);
  const follower = new JobFollower(client, tenant.organizationId, { signal, onChange: (job) => run.onChange(job) });
  try {
    await follower.open();
    return await run.through(follower);
  } finally {
    follower.close();
  }
}

class DemoRun {
  readonly #work: DemoWork;
  readonly #client: Client;
  readonly #tenant: DemoTenant;
  readonly #names = new Map<string, string>();
  readonly #jobs = new Map<string, JobEvent>();
  #ok = true;

  constructor(work: DemoWork, client: Client, tenant: DemoTenant) {
    this.#work = work;
    this.#client = client;
    this.#tenant = tenant;
  }

  async through(follower: JobFollower): Promise<DemoResult> {
    const { display, files, signal } = this.#work;
    display.heading('Uploads, through signed targets');
    const ready = [];
    for (const file of files) ready.push(await this.#tolerate(file.name, () => this.#upload(file)));
    const uploaded = ready.filter((document) => document !== undefined);
    if (uploaded.length > 0) display.heading('Jobs, as the live stream tells of them');
    await Promise.all(uploaded.map(({ id, name }) => this.#tolerate(name, () => this.#process(follower, id))));
    display.status('');
    const documents = await Promise.all([...this.#names.keys()].map((id) => this.#readDocument(id)));
    const searches = await this.#search(documents);
    const { usage } = await this.#client.organizations.usage({ organizationId: this.#tenant.organizationId }, { signal });
    return { documents, searches, jobs: [...this.#jobs.values()], creditsUsed: usage.aiCredits, ok: this.#ok };
  }

  onChange(job: JobEvent): void {
    const { display } = this.#work;
    this.#jobs.set(job.id, job);
    if (job.status === 'failed') display.problem(this.#nameOf(job), `${shortKind(job.kind)} failed: ${job.error?.message ?? ''}`);
    else if (job.finishedAt || job.nextAttemptAt) display.line(describeJob(job, this.#nameOf(job)));
    const running = [...this.#jobs.values()].filter(({ status }) => status === 'running');
    if (running.length > 0) display.status(`  ${running.map((one) => `${shortKind(one.kind)} ${this.#nameOf(one)}`).join(', ')} …`);
  }

  async #upload(file: DemoFile): Promise<Document> {
    const { display, signal } = this.#work;
    const { name, contentType } = file;
    const ready = await this.#client.uploadDocument({
      workspaceId: this.#tenant.workspaceId,
      name,
      contentType,
      file: await openAsBlob(file.path),
      onProgress: ({ sentBytes, totalBytes }) => display.bar(name, sentBytes, totalBytes),
      signal,
    });
    this.#names.set(ready.id, name);
    display.line(describeFile(file));
    return ready;
  }

  /** Extracts first: the other two would otherwise each extract for themselves. */
  async #process(follower: JobFollower, documentId: string): Promise<void> {
    const succeeds = async (kind: DocumentJobKind) => {
      const { id } = await this.#client.jobs.create({ kind, documentId }, { signal: this.#work.signal });
      const { status } = await follower.finished(id);
      this.#ok &&= status === 'succeeded';
      return status === 'succeeded';
    };
    if (await succeeds('document.extract')) await Promise.all([succeeds('document.summarize'), succeeds('document.index')]);
  }

  async #readDocument(id: string): Promise<Document & { summary: string | null }> {
    const document = await this.#client.documents.get({ id }, { signal: this.#work.signal });
    const summaries = [...this.#jobs.values()].flatMap((job) =>
      job.kind === 'document.summarize' && job.documentId === id && job.result ? [job.result.summary] : [],
    );
    return { ...document, summary: summaries[0] ?? null };
  }

  async #search(documents: { summary: string | null; chunkCount: number | null }[]): Promise<DemoSearch[]> {
    const { queries, samples, signal } = this.#work;
    const { workspaceId } = this.#tenant;
    const indexed = documents.filter(({ chunkCount }) => chunkCount);
    if (indexed.length === 0) return [];
    const found: (DemoSearch | undefined)[] = [];
    for (const query of chooseQueries(queries, { samples, summaries: indexed.map(({ summary }) => summary) }))
      found.push(await this.#tolerate(`search for “${query}”`, () => search(this.#client, { workspaceId, query, signal })));
    return found.filter((one) => one !== undefined);
  }

  #nameOf(job: JobEvent): string {
    return this.#names.get(job.documentId ?? '') ?? '';
  }

  /** Does one of several things; where it fails, says so and lets the others go on. */
  async #tolerate<T>(name: string, act: () => Promise<T>): Promise<T | undefined> {
    try {
      return await act();
    } catch (error) {
      this.#work.signal.throwIfAborted();
      this.#ok = false;
      this.#work.display.problem(name, messageOf(error));
      return undefined;
    }
  }
}

function messageOf(error: unknown): string {
  const { message } = error as Error;
  if (!(error instanceof SheafError && error.is('PAYLOAD_TOO_LARGE'))) return message;
  return `${message} At most ${formatBytes(error.data.maxBytes)} are taken.`;
}
