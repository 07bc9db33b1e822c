import { Context } from '@temporalio/activity';

/** How a long activity reports and stops: its progress in the heartbeat, its cancellation as a signal. */
export function reporting<T>(): { before: T | undefined; onProgress: (progress: T) => void; signal: AbortSignal } {
  const context = Context.current();
  return {
    // What an attempt that died had done, so that the next one counts on.
    before: context.info.heartbeatDetails as T | undefined,
    onProgress: (progress) => context.heartbeat(progress),
    signal: context.cancellationSignal,
  };
}
