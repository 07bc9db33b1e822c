import type { EventEmitter } from 'node:events';

let caught = new Map<Promise<unknown>, unknown>();

const note = (reason: unknown, promise: Promise<unknown>) => void caught.set(promise, reason);
const forget = (promise: Promise<unknown>) => void caught.delete(promise);

/** Notes, from now on, every promise that rejects and that nobody handles: mocha itself says nothing of them. */
export function trackRejections(): void {
  captureExceptions((error) => {
    if (!isLateRetry(error)) (process as EventEmitter).emit('uncaughtException', error, 'uncaughtException');
  });
  process.on('unhandledRejection', note).on('rejectionHandled', forget);
}

/**
 * Prints the reason of each promise that has rejected and that nobody has handled by now. `file` is where it happened. What rejects from now
 * on, until tracking begins again, is printed, too: mocha removes all listeners after a file, and the process would end while it loads the
 * next one.
 */
export function endTrackingRejections(file: string): void {
  process.off('unhandledRejection', note).off('rejectionHandled', forget);
  for (const reason of caught.values()) print(`A promise rejected without a handler in ${file}`, reason);
  caught = new Map();
  captureExceptions((error) => {
    if (!isLateRetry(error)) print(`Nobody handled what happened after the tests of ${file}`, error);
  });
}

/** Node takes a callback only where there is none. */
function captureExceptions(callback: (error: Error) => void): void {
  process.setUncaughtExceptionCaptureCallback(null);
  process.setUncaughtExceptionCaptureCallback(callback);
}

/** Temporal's client repeats a failed call by a timer, also once its connection is closed. A process of the API has ended by then. */
function isLateRetry({ message, stack = '' }: Error): boolean {
  return message === 'Channel has been shut down' && stack.includes('grpc-retry');
}

function print(what: string, reason: unknown): void {
  console.error(`${what}:\n${reason instanceof Error ? reason.stack : reason}`);
}
