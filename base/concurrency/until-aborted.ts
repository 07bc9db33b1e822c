/**
 * Waits for work that cannot be aborted itself. Rejects with the signal's reason if it aborts first; the work goes on, and its failure is
 * ignored.
 */
export async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason);
  if (signal.aborted) abort();
  else signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([aborted.promise, work]);
  } finally {
    signal.removeEventListener('abort', abort);
    work.catch(() => {});
  }
}
