import { plain, wrap } from './demo-text.ts';

const barWidth = 24;
const maxWidth = 80;

/** Writes what the demo does: lines that stay, and on a terminal a last line that changes. */
export class Display {
  readonly #stream: NodeJS.WriteStream;
  #hasStatus = false;

  constructor(stream: NodeJS.WriteStream) {
    this.#stream = stream;
  }

  get width(): number {
    return Math.min(this.#stream.columns || maxWidth, maxWidth);
  }

  heading(text: string): void {
    this.line(`\n${text}`, 0);
  }

  line(text: string, indent = 2): void {
    this.status('');
    this.#stream.write(`${' '.repeat(indent)}${text}\n`);
  }

  /** A text of any length, broken at the width of the terminal. */
  paragraph(text: string, indent: number): void {
    for (const line of wrap(text, { width: this.width, indent })) this.line(line, 0);
  }

  /** Shows what goes on, until the next line; only on a terminal. */
  status(text: string): void {
    if (!this.#stream.isTTY || (text === '' && !this.#hasStatus)) return;
    // A line that is wrapped could not be cleared.
    this.#stream.write(`\r\u001b[2K${text.slice(0, this.width - 1)}`);
    this.#hasStatus = text !== '';
  }

  /** Shows how much of an upload is sent; only on a terminal. */
  bar(name: string, doneBytes: number, totalBytes: number): void {
    const filled = Math.round((doneBytes / totalBytes) * barWidth);
    const percent = Math.floor((doneBytes / totalBytes) * 100);
    this.status(`  ${'█'.repeat(filled)}${'░'.repeat(barWidth - filled)} ${String(percent).padStart(3)} %  ${plain(name)}`);
  }

  /** Says on standard error what went wrong with one thing, while the others go on. */
  problem(name: string, message: string): void {
    this.status('');
    process.stderr.write(`  ✘ ${plain(name)}: ${plain(message)}\n`);
  }
}
