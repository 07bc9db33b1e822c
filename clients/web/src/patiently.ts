const retryMs = 2_000;

/**
 * Loads a file of the console, and waits while nothing responds. The router would take the file for gone, and load the console anew: the browser
 * shows nothing of it then, and uploads end.
 */
export function patiently<T>(load: () => Promise<T>): () => Promise<T> {
  return async () => {
    // A browser may remember that a file could not be loaded: it is not tried before it can be.
    if (!navigator.onLine) await untilThere();
    return load().catch(async (error: unknown) => {
      await untilThere();
      throw error;
    });
  };
}

async function untilThere(): Promise<void> {
  const isThere = () =>
    fetch('/', { method: 'HEAD' })
      .then(({ status }) => status < 500)
      .catch(() => false);
  while (!(await isThere())) await new Promise((resolve) => setTimeout(resolve, retryMs));
}
