import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { exitCodes, Failure } from './failure.ts';
import type { Terminal } from './terminal.ts';

/**
 * Asks for a secret, which is not shown while it is typed. If stdin is no terminal, the secret is its first line. It is never an argument:
 * every user of a machine sees those.
 */
export async function askSecret(terminal: Terminal, question: string): Promise<string> {
  const given = (await (terminal.stdin.isTTY ? askUnseen(terminal, question) : readFirstLine(terminal)))?.trim();
  if (given) return given;
  throw new Failure('Nothing was given.', exitCodes.misunderstood);
}

async function readFirstLine({ stdin, signal }: Terminal): Promise<string | undefined> {
  for await (const line of createInterface({ input: stdin, signal })) return line;
  return undefined;
}

/** Undefined if the user ends it. */
async function askUnseen({ stdin, stderr, signal }: Terminal, question: string): Promise<string | undefined> {
  stderr.write(question);
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: stdin, output: silent, terminal: true });
  const ended = new AbortController();
  // In raw mode Ctrl-C is a character, and not a signal.
  lines.once('SIGINT', () => ended.abort()).once('close', () => ended.abort());
  try {
    return await lines.question('', { signal: AbortSignal.any([signal, ended.signal]) });
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'AbortError') throw error;
    return undefined;
  } finally {
    lines.close();
    stderr.write('\n');
  }
}
