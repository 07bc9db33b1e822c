import { Context } from '@temporalio/activity';

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
