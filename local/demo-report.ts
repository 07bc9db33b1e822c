import type { JobEvent, JobKind } from '../client/index.ts';
import type { Display } from './demo-display.ts';
import type { DemoFile } from './demo-files.ts';
import type { DemoResult } from './demo-run.ts';
import type { DemoService } from './demo-service.ts';
import { excerpt, formatBytes, plain } from './demo-text.ts';

const excerptCharacters = 210;
const kinds: JobKind[] = ['document.extract', 'document.summarize', 'document.index'];

/** `extract` for `document.extract`. */
export function shortKind(kind: JobKind): string {
  return kind.replace(/^\w+\./, '');
}

/** A line on an uploaded file. */
export function describeFile({ name, contentType, sizeBytes }: DemoFile): string {
  return `${formatBytes(sizeBytes).padStart(9)}  ${contentType.padEnd(16)}  ${plain(name)}`;
}

/** A line on a job that is over, or will be tried again. */
export function describeJob(job: JobEvent, name: string): string {
  const tookMs = Date.parse(job.finishedAt ?? job.updatedAt) - Date.parse(job.createdAt);
  return `${(tookMs / 1000).toFixed(1).padStart(5)} s  ${shortKind(job.kind).padEnd(9)}  ${plain(name)}: ${outcomeOf(job)}`;
}

function outcomeOf(job: JobEvent): string {
  if (job.status !== 'succeeded') {
    const again = job.nextAttemptAt === null ? '' : `; tried again at ${job.nextAttemptAt.slice(11, 19)} UTC`;
    return `${job.status}${job.error ? `: ${plain(job.error.message)}` : ''}${again}`;
  }
  if (job.kind === 'document.extract') return `${count(job.result?.characters, 'character')}${pages(job.result?.pages)}`;
  if (job.kind === 'document.summarize') return count(job.result?.sentences, 'sentence');
  if (job.kind === 'document.index') return `${count(job.result?.chunks, 'chunk')}, ${job.result?.dimensions} dimensions`;
  return job.status;
}

/** Prints what came of the jobs: summaries, searches, credits, and where each workflow is seen. */
export function report(result: DemoResult, service: DemoService, display: Display): void {
  const { documents, searches, creditsUsed } = result;
  const summarized = documents.filter(({ summary }) => summary !== null);
  if (summarized.length > 0) display.heading('Summaries');
  for (const { name, summary } of summarized) {
    display.line(plain(name));
    display.paragraph(summary ?? '', 4);
  }
  if (searches.length > 0) display.heading(`Search by meaning (${searches[0]?.model})`);
  for (const search of searches) reportSearch(search, display);
  display.heading(`Credits used: ${creditsUsed}`);
  reportLinks(result, service, display);
}

function reportSearch({ query, results }: DemoResult['searches'][number], display: Display): void {
  display.paragraph(`“${query}”`, 2);
  if (results.length === 0) display.line('nothing found', 4);
  for (const [index, { score, documentName, text }] of results.entries()) {
    display.line(`${score.toFixed(3)}  ${plain(documentName)}`, 4);
    if (index === 0) display.paragraph(excerpt(text, query, excerptCharacters), 11);
  }
}

function reportLinks({ documents, jobs }: DemoResult, service: DemoService, display: Display): void {
  if (service.workflowUrl('') === undefined) return;
  display.heading("Each job's history, in Temporal's web UI");
  for (const { id, name } of documents) {
    const own = kinds.flatMap((kind) => jobs.filter((job) => job.documentId === id && job.kind === kind));
    display.line(`${plain(name)}: ${own.map(({ kind }) => shortKind(kind)).join(', ')}`);
    // At the margin, so that a terminal which breaks the line still knows one link.
    for (const job of own) display.line(service.workflowUrl(job.id) ?? '', 0);
  }
}

/** What `--json` prints. */
export function toJson(
  { documents, jobs, searches, creditsUsed }: Omit<DemoResult, 'ok'>,
  service: Pick<DemoService, 'workflowUrl'>,
): string {
  const report = {
    documents: documents.map(({ id, name, status, extracted, summary, chunkCount }) => ({
      id,
      name,
      status,
      extracted,
      summary,
      chunkCount,
    })),
    jobs: jobs.map(({ id, kind, status, attempts }) => ({ id, kind, status, attempts, workflowUrl: service.workflowUrl(id) ?? null })),
    search: searches.map(({ query, model, results }) => ({ query, model, results })),
    creditsUsed,
  };
  return `${JSON.stringify(report, undefined, 2)}\n`;
}

function count(value: number | undefined, noun: string): string {
  return `${(value ?? 0).toLocaleString('en')} ${noun}${value === 1 ? '' : 's'}`;
}

function pages(value: number | null | undefined): string {
  return value ? `, ${count(value, 'page')}` : '';
}
