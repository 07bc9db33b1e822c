import type { ReadStream, WriteStream } from 'node:tty';

/** Where a command runs: its streams, its environment, and the wish of its user to end it. */
export interface Terminal {
  env: Record<string, string | undefined>;
  stdin: ReadStream;
  stdout: WriteStream;
  stderr: WriteStream;
  /** Aborts at the first Ctrl-C. */
  signal: AbortSignal;
}

/** What a command prints: results to stdout, in words or as JSON, and notes for people to stderr. */
export interface Output {
  readonly isJson: boolean;
  /** Prints a result: the value on one line as JSON, or the text that says the same to people. */
  show(value: object, text: string): void;
  note(text: string): void;
  /** Paints a text that goes to stdout, if that is a terminal that shows colors. */
  paint(style: Style, text: string): string;
}

const styles = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33 };
export type Style = keyof typeof styles;

export function createOutput({ env, stdout, stderr }: Terminal, isJson: boolean): Output {
  const hasColors = stdout.isTTY && !env.NO_COLOR && env.TERM !== 'dumb';
  return {
    isJson,
    show: (value, text) => stdout.write(isJson ? `${JSON.stringify(value)}\n` : `${text}\n`),
    note: (text) => stderr.write(`${text}\n`),
    paint: (style, text) => (hasColors ? `\u001b[${styles[style]}m${text}\u001b[0m` : text),
  };
}

/** A text of a document or a service, without the characters by which it could command a terminal. Lines and tabs are left. */
export function plain(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what has to go.
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '');
}
