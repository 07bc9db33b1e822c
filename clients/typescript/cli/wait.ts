import type { RetryOptions } from '../index.ts';
import { sleep } from '../retry.ts';
import { sayError } from './failure.ts';
import { createProgress } from './progress.ts';
import { plain, type Terminal } from './terminal.ts';

/** Shorter waits are not told. */
const minToldMs = 2_000;

/**
 * The wait of a command before it repeats a call: says on stderr why it waits, once for all calls that wait at the same time. Rejects with
 * the error of the call as soon as its user ends the command: nothing of the call is under way then.
 */
export function createWait(terminal: Terminal): RetryOptions['wait'] {
  const { note } = createProgress(terminal);
  let toldUntil = 0;
  return async (delayMs, { error, signal }) => {
    const now = Date.now();
    if (delayMs >= minToldMs && now >= toldUntil) {
      toldUntil = now + delayMs;
      note(plain(`Waiting ${Math.round(delayMs / 1_000)} s: ${sayError(error)}`).replaceAll('\n', ' '));
    }
    const ending = signal ? AbortSignal.any([signal, terminal.signal]) : terminal.signal;
    await sleep(delayMs, ending).catch(() => {
      signal?.throwIfAborted();
      throw error;
    });
  };
}
