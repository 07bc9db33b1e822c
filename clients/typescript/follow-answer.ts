import { getEventMeta } from '@orpc/client';
import { type Calling, connect, newKey } from './call.ts';
import { delayBefore, mayRepeat } from './retry.ts';
import { iterate, type StreamOptions } from './stream.ts';
import { toSheafError } from './transport.ts';
import type { AnswerEvent } from './types.ts';

export interface AnswerOptions extends StreamOptions {
  /** The answer is given and charged once for each key. By default there is one for each call; pass your own to survive a restart. */
  idempotencyKey?: string | undefined;
}

/** Follows an answer to its end over successive connections, each event once. Throws SheafError, and the reason of an aborted signal. */
export async function* followAnswer(
  calling: Calling,
  input: object,
  { signal = new AbortController().signal, idempotencyKey, lastEventId }: AnswerOptions = {},
): AsyncGenerator<AnswerEvent, void, undefined> {
  const { retries } = calling;
  // An event id has the key in it.
  const key = idempotencyKey ?? (lastEventId === undefined ? newKey() : undefined);
  const hungUp = new AbortController();
  const ended = AbortSignal.any([signal, hungUp.signal]);
  let after = lastEventId;
  try {
    for (let tries = 1; ; tries += 1) {
      try {
        const place = { idempotencyKey: key, lastEventId: after };
        const connection = await connect<AnswerEvent>(calling, { path: ['documents', 'askStream'], input, signal: ended, ...place });
        for await (const event of iterate(connection)) {
          after = getEventMeta(event)?.id ?? after;
          tries = 1;
          yield event;
          if (event.type === 'end') return;
        }
        throw new DOMException('The stream ended before the answer did.', 'NetworkError');
      } catch (error) {
        signal.throwIfAborted();
        const failure = toSheafError(error);
        const delayMs = tries < retries.attempts && mayRepeat(failure, 'keyed') ? delayBefore(failure, tries, retries) : undefined;
        if (delayMs === undefined) throw failure;
        await retries.wait(delayMs, { error: failure, signal });
      }
    }
  } finally {
    hungUp.abort();
  }
}
