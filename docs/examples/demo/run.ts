import { randomBytes } from 'node:crypto';
import { openAsBlob } from 'node:fs';
import { basename } from 'node:path';
import { type Client, contentTypeOf, isFinal, type JobEvent, SheafError, type Upload } from '../../../clients/typescript/index.ts';
import type { SearchMode } from '../../../contract/document-search.ts';
import { firstSentence } from './excerpts.ts';
import type { DemoResult } from './result.ts';
import type { Screen } from './screen.ts';

interface Work {
  /** Paths of files that can be read. */
  files: string[];
  /** What to search for; the first sentence of each summary when empty. */
  queries: string[];
  /** What searches compare. */
  mode: SearchMode;
  /** Prints each step, and asks all questions instead of three. */
  verbose: boolean;
  screen: Screen;
  signal: AbortSignal;
}

/** How many questions a run asks that is not verbose. */
export const briefQuestions = 3;

type Progress = Parameters<NonNullable<Upload['onProgress']>>[0];

/** Takes files through the main job: upload, extract, summarize, index, search. Throws if the service cannot be used at all. */
export async function runDemo(client: Client, work: Work): Promise<DemoResult> {
  const { screen, signal, files, verbose } = work;
  const { organizationId, workspaceId, ...user } = await createTenant(client, work);
  const demo = new Demo({ ...work, client, workspaceId });
  const stream = await client.jobs.stream({ organizationId }, { signal });
  try {
    if (verbose) screen.heading('Uploads, through signed targets');
    for (const path of files) await demo.upload(path);
    if (verbose && demo.hasDocuments) screen.heading('Jobs, as the live stream reports them');
    await demo.runJobs(stream);
  } finally {
    void stream.return();
  }
  const documents = await demo.readDocuments();
  const search = await demo.search(documents);
  const { usage } = await client.organizations.usage({ organizationId }, { signal });
  const token = client.auth.token ?? '';
  return { organizationId, token, ...user, documents, jobs: [...demo.jobs.values()], search, creditsUsed: usage.aiCredits, ok: demo.ok };
}

/** Signs up a new user, as whom the client calls from then on, and makes an organization with a workspace. Throws SheafError. */
async function createTenant(
  client: Client,
  { screen, signal, verbose }: Work,
): Promise<Pick<DemoResult, 'organizationId' | 'email' | 'password' | 'place'> & { workspaceId: string }> {
  const slug = `demo-${randomBytes(6).toString('hex')}`;
  const user = { email: `${slug}@example.com`, password: randomBytes(12).toString('base64url') };
  const { signedIn } = await client.auth.signUp({ name: 'Demo', ...user }, { signal });
  if (!signedIn) throw new Error('The service lets nobody in before the email address is verified: the demo cannot sign up.');
  const { id: organizationId } = await client.auth.createOrganization({ name: 'Demo', slug }, { signal });
  const { id: workspaceId } = await client.workspaces.create({ organizationId, name: 'Documents', slug: 'documents' }, { signal });
  if (verbose) screen.line(`${user.email}, a new user with the organization ${slug} and a workspace`, 0);
  return { ...user, organizationId, workspaceId, place: `/o/${slug}/documents` };
}

/** The steps of the demo in one workspace. */
class Demo {
  readonly jobs = new Map<string, JobEvent>();
  ok = true;
  readonly #run: Work & { client: Client; workspaceId: string };
  readonly #names = new Map<string, string>();

  constructor(run: Work & { client: Client; workspaceId: string }) {
    this.#run = run;
  }

  get hasDocuments(): boolean {
    return this.#names.size > 0;
  }

  async upload(path: string): Promise<void> {
    const { client, screen, signal, workspaceId, verbose } = this.#run;
    const name = basename(path);
    await this.#attempt(name, async () => {
      const onProgress = ({ sentBytes, totalBytes }: Progress) => screen.status(`${Math.floor((sentBytes / totalBytes) * 100)} %  ${name}`);
      const file = await openAsBlob(path);
      const document = await client.uploadDocument({ workspaceId, name, contentType: contentTypeOf(path), file, onProgress, signal });
      this.#names.set(document.id, name);
      if (verbose) screen.document(document);
    });
  }

  /** Runs each document's jobs to their ends. Extracts first: the other two jobs would otherwise each extract for themselves. */
  async runJobs(stream: AsyncIterator<JobEvent>): Promise<void> {
    const { client, screen, signal, verbose } = this.#run;
    const open = new Set<string>();
    const start = (documentId: string, kind: 'document.extract' | 'document.summarize' | 'document.index') =>
      this.#attempt(this.#names.get(documentId) ?? '', async () => {
        open.add((await client.jobs.create({ kind, documentId }, { signal })).id);
      });
    for (const id of this.#names.keys()) await start(id, 'document.extract');
    while (open.size > 0) {
      const { value: job, done } = await stream.next();
      signal.throwIfAborted();
      if (done) throw new Error('The live stream of jobs was closed.');
      const documentId = job.documentId ?? '';
      this.jobs.set(job.id, job);
      this.ok &&= job.status !== 'failed';
      screen.job(job, this.#names.get(documentId) ?? '', verbose);
      if (job.kind === 'document.extract' && job.status === 'succeeded')
        await Promise.all([start(documentId, 'document.summarize'), start(documentId, 'document.index')]);
      if (isFinal(job)) open.delete(job.id);
    }
  }

  async readDocuments(): Promise<DemoResult['documents']> {
    const { client, signal } = this.#run;
    const summaries = [...this.jobs.values()].flatMap((job) => (job.kind === 'document.summarize' ? [job] : []));
    const summaryOf = (id: string) => summaries.find(({ documentId }) => documentId === id)?.result?.summary ?? null;
    const read = async (id: string) => ({ ...(await client.documents.get({ id }, { signal })), summary: summaryOf(id) });
    return await Promise.all([...this.#names.keys()].map(read));
  }

  async search(documents: DemoResult['documents']): Promise<DemoResult['search']> {
    const { client, queries, mode, signal, workspaceId, verbose } = this.#run;
    const indexed = documents.filter(({ chunkCount }) => chunkCount);
    const own = [...new Set(indexed.flatMap(({ summary }) => (summary ? [firstSentence(summary)] : [])))];
    const asked = queries.length > 0 ? queries : own.slice(0, verbose ? undefined : briefQuestions);
    const found: DemoResult['search'] = [];
    for (const query of indexed.length === 0 ? [] : asked)
      await this.#attempt(`search for “${query}”`, async () => {
        const input = { workspaceId, query, limit: 3, include: ['citation' as const, 'highlights' as const], mode };
        const results = await client.documents.search(input, { signal });
        found.push({ query, mode, ...results });
      });
    return found;
  }

  /** Does one of several things. If it fails, reports that and lets the others go on. */
  async #attempt(name: string, act: () => Promise<void>): Promise<void> {
    await act().catch((error: Error) => {
      this.#run.signal.throwIfAborted();
      this.ok = false;
      const limit = error instanceof SheafError && error.is('PAYLOAD_TOO_LARGE') ? ` It may have ${error.data.maxBytes} bytes.` : '';
      this.#run.screen.problem(name, error.message + limit);
    });
  }
}
