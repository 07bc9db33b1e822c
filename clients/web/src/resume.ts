const waiting = new Set<() => void>();

/** Calls `goOn` each time the connection is back or the user has signed in again, until the function that it returns is called. */
export function onResume(goOn: () => void): () => void {
  waiting.add(goOn);
  return () => void waiting.delete(goOn);
}

/** Lets go on what the lost session or connection has stopped. */
export function resume(): void {
  for (const goOn of waiting) goOn();
}

window.addEventListener('online', resume);
