import type { JobEvent } from '../../../clients/typescript/index.ts';
import { bestSentence, placeOf } from './excerpts.ts';
import type { DemoResult } from './result.ts';
import { plain, type Screen, shortKind } from './screen.ts';

/** The pages of Temporal's UI with a job's workflow and with all of an organization; undefined if the address of the UI is unknown. */
export interface WorkflowPages {
  job(jobId: string): string | undefined;
  organization(organizationId: string): string | undefined;
}

const kinds = ['extract', 'summarize', 'index'];
const maxNameCharacters = 32;

/** Prints one screen: what each document's jobs took, each question with its best passage, credits, and where the jobs are seen. */
export function report(result: DemoResult, pages: WorkflowPages, screen: Screen): void {
  const { documents, jobs, search } = result;
  screen.heading(`${'Document'.padEnd(maxNameCharacters)}     size  pages${kinds.map((kind) => kind.padStart(10)).join('')}`);
  for (const { id, name, size, extracted } of documents) {
    const own = jobs.filter(({ documentId }) => documentId === id);
    const took = kinds.map((kind) => durationOf(own.find((job) => shortKind(job) === kind)).padStart(10)).join('');
    const numbers = `${`${Math.ceil(size / 1000)} kB`.padStart(9)}${String(extracted?.pages ?? '–').padStart(7)}`;
    screen.line(`${cut(plain(name)).padEnd(maxNameCharacters)}${numbers}${took}`, 0);
  }
  if (search.length > 0) screen.heading(searchHeading(search));
  for (const { query, results } of search) {
    screen.paragraph(`“${query}”`, 2);
    const [best] = results;
    screen.line(best ? placeOf(best) : 'nothing found', 4);
    if (best) screen.paragraph(bestSentence(best, query), 6);
  }
  screen.heading(creditsLine(result));
  const page = pages.organization(result.organizationId);
  if (page !== undefined) screen.line(`All jobs, in Temporal's web UI:\n${page}`, 0);
}

/** Prints everything: summaries, three passages of each search with their scores, credits, and the page of each workflow. */
export function reportAll(result: DemoResult, pages: WorkflowPages, screen: Screen): void {
  const { documents, jobs, search } = result;
  screen.heading('Summaries');
  for (const { name, summary } of documents) {
    screen.line(plain(name));
    screen.paragraph(summary ?? 'none', 4);
  }
  if (search.length > 0) screen.heading(searchHeading(search));
  for (const { query, results } of search) {
    screen.paragraph(`“${query}”`, 2);
    if (results.length === 0) screen.line('nothing found', 4);
    for (const [index, found] of results.entries()) {
      screen.line(`${(found.score ?? found.lexicalScore ?? 0).toFixed(3)}  ${placeOf(found)}`, 4);
      if (index === 0) screen.paragraph(bestSentence(found, query), 11);
    }
  }
  screen.heading(creditsLine(result));
  if (pages.job('') === undefined) return;
  screen.heading("Each job's history, in Temporal's web UI");
  for (const { id, name } of documents) {
    const own = jobs.filter(({ documentId }) => documentId === id);
    screen.line(`${plain(name)}: ${own.map(shortKind).join(', ')}`);
    // At the margin, so that a terminal that wraps the line still recognizes one link.
    for (const job of own) screen.line(pages.job(job.id) ?? '', 0);
  }
}

/** What `--json` prints: of each search the best passage; with `verbose` all passages with their whole text. */
export function toJson(
  result: Pick<DemoResult, 'documents' | 'jobs' | 'search' | 'creditsUsed'>,
  pages: WorkflowPages,
  verbose: boolean,
): string {
  const pick = <T extends object, K extends keyof T>(from: T, ...keys: K[]) => Object.fromEntries(keys.map((key) => [key, from[key]]));
  const documents = result.documents.map((one) => pick(one, 'id', 'name', 'status', 'extracted', 'summary', 'chunkCount'));
  const jobs = result.jobs.map((job) => ({ ...pick(job, 'id', 'kind', 'status', 'attempts'), workflowUrl: pages.job(job.id) ?? null }));
  const search = result.search.map((one) => (verbose ? pick(one, 'query', 'mode', 'model', 'results') : bestOf(one)));
  return `${JSON.stringify({ documents, jobs, search, creditsUsed: result.creditsUsed }, undefined, 1)}\n`;
}

/** Prints the command that makes an API key in the demo's organization, as one line to paste. */
export function reportKeyCommand(url: string, { organizationId, token }: DemoResult, screen: Screen): void {
  const body = JSON.stringify({ organizationId, name: 'Mine', permissions: ['document:read', 'document:create', 'job:create'] });
  screen.heading('An API key for a program of yours (docs/integrations.md)');
  screen.line(`curl -sS ${url}/api/v1/api-keys -H 'Authorization: Bearer ${token}' -H 'Content-Type: application/json' -d '${body}'`, 0);
}

/** Prints where the console shows what happened, and as whom to sign in there. Nothing if the service has no console. */
export async function reportConsole(url: string, { email, password, place }: DemoResult, screen: Screen): Promise<void> {
  const link = `${url}/sign-in?next=${place}/jobs`;
  const page = await fetch(link, { headers: { accept: 'text/html' } });
  if (!page.ok) return;
  screen.heading(`In the console, as ${email}, password ${password}`);
  screen.line(link, 0);
}

function bestOf({ query, mode, model, results: [best] }: DemoResult['search'][number]) {
  const found = best && { place: placeOf(best), passage: bestSentence(best, query) };
  return { query, mode, model, best: found ?? null };
}

function searchHeading(search: DemoResult['search']): string {
  const modes = { semantic: 'by meaning', lexical: 'by words', hybrid: 'by meaning and by words' };
  const [first] = search;
  return `Questions, asked ${modes[first?.mode ?? 'hybrid']} (${first?.mode}, ${first?.model ?? 'nothing is indexed'})`;
}

function creditsLine({ creditsUsed }: DemoResult): string {
  return `Credits used: ${creditsUsed}`;
}

function durationOf(job: JobEvent | undefined): string {
  if (job === undefined) return '–';
  if (job.status !== 'succeeded') return job.status;
  return `${((Date.parse(job.finishedAt ?? '') - Date.parse(job.startedAt ?? '')) / 1000).toFixed(1)} s`;
}

function cut(name: string): string {
  const characters = [...name];
  return characters.length < maxNameCharacters ? name : `${characters.slice(0, maxNameCharacters - 2).join('')}…`;
}
