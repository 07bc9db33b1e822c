import { Context } from '@temporalio/activity';

const heartbeatMs = 5_000;

/** Progress reports of a long activity, by heartbeats, and the signal that it must stop. */
export function reporting<T>(): { before: T | undefined; onProgress: (progress: T) => void; signal: AbortSignal } {
  const context = Context.current();
  return {
    // The progress of a lost attempt, whose count this one continues.
    before: context.info.heartbeatDetails as T | undefined,
    onProgress: (progress) => context.heartbeat(progress),
    signal: context.cancellationSignal,
  };
}

/**
 * Runs work with a heartbeat every five seconds, so that a lost worker is noticed before the long timeout. Each heartbeat carries what
 * `readProgress` returns; nothing if it is absent.
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
