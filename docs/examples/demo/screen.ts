import type { Document, JobEvent } from '../../../clients/typescript/index.ts';
import { createSpinner } from '../../../ops/local/progress.ts';

const maxWidth = 80;

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

  /** Reports that a job has ended, will be tried again, or runs; unless `verbose`, only what goes wrong stays on the screen. */
  job(job: JobEvent, name: string, verbose: boolean): void {
    const kind = shortKind(job);
    const seconds = (Date.parse(job.finishedAt ?? job.updatedAt) - Date.parse(job.createdAt)) / 1000;
    const counts = Object.entries(job.result ?? {}).flatMap(([noun, value]) => (typeof value === 'number' ? [count(value, noun)] : []));
    const outcome = job.nextAttemptAt ? `tried again at ${job.nextAttemptAt}: ${plain(job.error?.message ?? '')}` : counts.join(', ');
    if (job.status === 'failed') this.problem(name, `${kind} failed: ${job.error?.message}`);
    else if (verbose && (job.finishedAt || job.nextAttemptAt))
      this.line(`${seconds.toFixed(1).padStart(5)} s  ${kind.padEnd(9)}  ${plain(name)}: ${outcome}`);
    else this.status(`${kind} ${name} …`);
  }
}

/** `1 page`, `2 pages`. */
function count(value: number, plural: string): string {
  return `${value} ${value === 1 ? plural.replace(/s$/, '') : plural}`;
}

/** `extract` for `document.extract`. */
export function shortKind({ kind }: { kind: string }): string {
  return kind.replace(/^\w+\./, '');
}

/** A text for a terminal: on one line, and without the control characters with which a document could steer it. */
export function plain(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Z}]+/gu, ' ').trim();
}
