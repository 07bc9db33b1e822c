import { type Document, type JobEvent, sliceCharacters } from '../client/index.ts';
import type { SearchMode } from '../contract/document-search.ts';
import { createSpinner } from '../local/progress.ts';
import type { DemoResult } from './run.ts';

const maxWidth = 80;
/** What fits on a line beside a score. */
const maxPlace = 65;
/** Around words that matched. */
const [openingMark, closingMark] = ['«', '»'];

/** The page of a job's workflow in Temporal's UI; undefined if the address of the UI is unknown. */
export type WorkflowUrl = (jobId: string) => string | undefined;

/** Prints lines, and on a terminal shows a last line that changes. */
export class Screen {
  readonly stream: NodeJS.WriteStream;
  readonly #spinner;

  constructor(stream: NodeJS.WriteStream) {
    this.stream = stream;
    this.#spinner = createSpinner(stream);
  }

  heading(text: string): void {
    this.line(`\n${text}`, 0);
  }

  line(text: string, indent = 2): void {
    this.stream.write(`${' '.repeat(indent)}${text}\n`);
  }

  /** Prints a text of any length, wrapped at the width of the terminal. */
  paragraph(text: string, indent: number): void {
    const width = Math.min(this.stream.columns || maxWidth, maxWidth) - indent;
    for (const line of plain(text).match(new RegExp(`\\S.{0,${width - 1}}(?= |$)|\\S+`, 'gu')) ?? []) this.line(line, indent);
  }

  /** Shows what is under way; nothing if the text is empty. */
  status(text: string): void {
    if (text === '') this.#spinner.stop();
    else this.#spinner.start(plain(text));
  }

  /** Reports on standard error what went wrong with one thing, while the others go on. */
  problem(name: string, message: string): void {
    process.stderr.write(`  ✘ ${plain(name)}: ${plain(message)}\n`);
  }

  document({ size, contentType, name }: Document): void {
    this.line(`${(size / 1000).toFixed(1).padStart(8)} kB  ${contentType.padEnd(16)}  ${plain(name)}`);
  }

  /** Reports that a job has ended, will be tried again, or runs. */
  job(job: JobEvent, name: string): void {
    const kind = shortKind(job);
    const seconds = (Date.parse(job.finishedAt ?? job.updatedAt) - Date.parse(job.createdAt)) / 1000;
    const counts = Object.entries(job.result ?? {}).flatMap(([noun, value]) => (typeof value === 'number' ? [`${value} ${noun}`] : []));
    const outcome = job.nextAttemptAt ? `tried again at ${job.nextAttemptAt}: ${plain(job.error?.message ?? '')}` : counts.join(', ');
    if (job.status === 'failed') this.problem(name, `${kind} failed: ${job.error?.message}`);
    else if (job.finishedAt || job.nextAttemptAt)
      this.line(`${seconds.toFixed(1).padStart(5)} s  ${kind.padEnd(9)}  ${plain(name)}: ${outcome}`);
    else this.status(`${kind} ${name} …`);
  }
}

/** Prints the results: summaries, searches, credits, and the page of each workflow. */
export function report({ documents, jobs, search, creditsUsed }: DemoResult, workflowUrl: WorkflowUrl, screen: Screen): void {
  screen.heading('Summaries');
  for (const { name, summary } of documents) {
    screen.line(plain(name));
    screen.paragraph(summary ?? 'none', 4);
  }
  screen.heading(searchHeading(search));
  if (modeIn(search) === 'hybrid') screen.line('best first by both; the numbers are of meaning alone');
  for (const { query, results } of search) {
    screen.paragraph(`“${query}”`, 2);
    for (const result of results) screen.line(`${(result.score ?? result.lexicalScore ?? 0).toFixed(3)}  ${placeOf(result)}`, 4);
    screen.paragraph(results[0] ? bestSentence(results[0], query) : 'nothing found', 11);
  }
  screen.heading(`Credits used: ${creditsUsed}`);
  if (workflowUrl('') === undefined) return;
  screen.heading("Each job's history, in Temporal's web UI");
  for (const { id, name } of documents) {
    const own = jobs.filter(({ documentId }) => documentId === id);
    screen.line(`${plain(name)}: ${own.map(shortKind).join(', ')}`);
    // At the margin, so that a terminal that wraps the line still recognizes one link.
    for (const job of own) screen.line(workflowUrl(job.id) ?? '', 0);
  }
}

/** What `--json` prints. */
export function toJson(result: Omit<DemoResult, 'ok'>, workflowUrl: WorkflowUrl): string {
  const pick = <T extends object, K extends keyof T>(from: T, ...keys: K[]) => Object.fromEntries(keys.map((key) => [key, from[key]]));
  const documents = result.documents.map((one) => pick(one, 'id', 'name', 'status', 'extracted', 'summary', 'chunkCount'));
  const jobs = result.jobs.map((job) => ({ ...pick(job, 'id', 'kind', 'status', 'attempts'), workflowUrl: workflowUrl(job.id) ?? null }));
  const search = result.search.map((one) => pick(one, 'query', 'mode', 'model', 'results'));
  return `${JSON.stringify({ documents, jobs, search, creditsUsed: result.creditsUsed }, undefined, 2)}\n`;
}

/** Names the mode, and the model that embedded the queries. */
function searchHeading(search: DemoResult['search']): string {
  const mode = modeIn(search);
  return `${mode ? `Search, ${mode}` : 'Search'} (${search[0]?.model ?? 'nothing is indexed'})`;
}

function modeIn(search: DemoResult['search']): SearchMode | null {
  return search.find(({ mode }) => mode !== null)?.mode ?? null;
}

/** The first sentence of a text, as a search query: at most 1,000 characters. */
export function firstSentence(text: string): string {
  return [...(sentencesOf(text)[0] ?? '')].slice(0, 1000).join('');
}

/** `extract` for `document.extract`. */
function shortKind({ kind }: JobEvent): string {
  return kind.replace(/^\w+\./, '');
}

/** A text for a terminal: on one line, and without the control characters with which a document could steer it. */
function plain(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Z}]+/gu, ' ').trim();
}

type Result = DemoResult['search'][number]['results'][number];

/** The document with the page of what matched, or the heading that it is under. */
function placeOf({ documentName, citation, highlights = [] }: Result): string {
  const page = highlights[0]?.page ?? citation?.page ?? null;
  const heading = citation?.headings?.at(-1);
  const place = page === null ? heading : `page ${page}`;
  return [...plain(place === undefined ? documentName : `${documentName}, ${place}`)].slice(0, maxPlace).join('');
}

/** The sentence with the most words of the query, which are marked; if none is there, the one that shares the most beginnings of longer ones. */
function bestSentence({ text, highlights = [] }: Result, query: string): string {
  const marked = mark(text, highlights);
  const marksIn = (sentence: string) => sentence.split(openingMark).length;
  const wordsOf = (words: string) => new Set(words.toLowerCase().match(/(?<![\p{L}\p{N}])[\p{L}\p{N}]{4,5}/gu));
  const shared = (sentence: string) => wordsOf(sentence).intersection(wordsOf(query)).size;
  const worth = (sentence: string) => 1_000 * marksIn(sentence) + shared(sentence);
  return sentencesOf(marked).reduce((best, sentence) => (worth(sentence) > worth(best) ? sentence : best), '') || marked;
}

/** Puts marks around parts of a text, which are in its order. */
function mark(text: string, parts: { start: number; end: number }[]): string {
  const ends = [0, ...parts.map(({ end }) => end)];
  const pieces = parts.map((part, index) => {
    const before = sliceCharacters(text, { start: ends[index] ?? 0, end: part.start });
    return `${before}${openingMark}${sliceCharacters(text, part)}${closingMark}`;
  });
  return pieces.join('') + sliceCharacters(text, { start: ends.at(-1) ?? 0, end: text.length });
}

function sentencesOf(text: string): string[] {
  return [...new Intl.Segmenter('en', { granularity: 'sentence' }).segment(plain(text))].map(({ segment }) => segment.trim());
}
