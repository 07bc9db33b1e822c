let caught = new Map<Promise<unknown>, unknown>();

const note = (reason: unknown, promise: Promise<unknown>) => void caught.set(promise, reason);
const forget = (promise: Promise<unknown>) => void caught.delete(promise);

/** Notes, from now on, every promise that rejects and that nobody handles: mocha itself says nothing of them. */
export function trackRejections(): void {
  process.on('unhandledRejection', note).on('rejectionHandled', forget);
}

/** Prints the reason of each promise that has rejected and that nobody has handled by now. `file` is where it happened. */
export function endTrackingRejections(file: string): void {
  process.off('unhandledRejection', note).off('rejectionHandled', forget);
  for (const reason of caught.values()) {
    console.error(`A promise rejected without a handler in ${file}:\n${reason instanceof Error ? reason.stack : reason}`);
  }
  caught = new Map();
}
