import { Context } from '@temporalio/activity';

const heartbeatMs = 5_000;

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

/**
 * Runs work that waits for others, with a heartbeat every five seconds: a lost worker is noticed by their absence, and not by a long timeout.
 * Each heartbeat carries what `readProgress` returns; nothing if it is absent.
 */
export async function withHeartbeats<T>(work: () => Promise<T>, readProgress?: () => unknown): Promise<T> {
  const context = Context.current();
  const heartbeat = setInterval(() => context.heartbeat(readProgress?.()), heartbeatMs);
  try {
    return await work();
  } finally {
    clearInterval(heartbeat);
  }
}
