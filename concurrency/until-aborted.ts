/**
 * Waits for work that does not hear the signal itself. Rejects with the signal's reason when it aborts first; the work goes on,
 * and a failure of it that nobody waits for any more is dropped.
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
