import { Context } from '@temporalio/activity';

const heartbeatMs = 5_000;

const lastWords = new WeakMap<Context, string>();

/** Puts into the heartbeats of this attempt how far it has come, in words: Temporal's UI shows them. */
export function tellProgress(words: string): void {
  const context = Context.current();
  lastWords.set(context, words);
  context.heartbeat(words);
}

/** What {@link tellProgress} was told last in this attempt. */
export function lastProgress(context: Context): string | undefined {
  return lastWords.get(context);
}

/** How a long activity reports its progress, in heartbeats, and learns that it must stop. */
export function reporting<T>(): { before: T | undefined; onProgress: (progress: T) => void; signal: AbortSignal } {
  const context = Context.current();
  return {
    // The progress of an attempt that died; the next one continues its count.
    before: context.info.heartbeatDetails as T | undefined,
    onProgress: (progress) => context.heartbeat(progress),
    signal: context.cancellationSignal,
  };
}

/** Runs work that waits for others, with heartbeats all the time: the loss of its worker is noticed by their absence, and not by a long timeout. */
export async function withHeartbeats<T>(work: () => Promise<T>): Promise<T> {
  const context = Context.current();
  const heartbeat = setInterval(() => context.heartbeat(), heartbeatMs);
  try {
    return await work();
  } finally {
    clearInterval(heartbeat);
  }
}
