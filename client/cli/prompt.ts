import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { exitCodes, Failure } from './failure.ts';
import type { Terminal } from './terminal.ts';

/**
 * Asks for a secret, which is not shown while it is typed. If stdin is no terminal, the secret is its first line. It is never an argument:
 * every user of a machine sees those.
 */
export async function askSecret({ stdin, stderr, signal }: Terminal, question: string): Promise<string> {
  if (stdin.isTTY) stderr.write(question);
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: stdin, output: silent, terminal: stdin.isTTY });
  const ended = new AbortController();
  // In raw mode Ctrl-C is a character, and not a signal.
  lines.once('SIGINT', () => ended.abort()).once('close', () => ended.abort());
  try {
    const given = await lines.question('', { signal: AbortSignal.any([signal, ended.signal]) });
    if (given.trim() !== '') return given.trim();
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'AbortError') throw error;
  } finally {
    lines.close();
    if (stdin.isTTY) stderr.write('\n');
  }
  throw new Failure('Nothing was given.', exitCodes.misunderstood);
}
