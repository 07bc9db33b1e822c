/** What {@link within} returns if the time is over. */
export const late = Symbol('late');

/** The result of work, or {@link late} once `ms` have passed: the work goes on, and its failure is ignored. Rejects as the work does. */
export async function within<T>(ms: number, work: Promise<T>): Promise<T | typeof late> {
  const over = Promise.withResolvers<typeof late>();
  const timer = setTimeout(() => over.resolve(late), Math.max(0, ms));
  try {
    return await Promise.race([work, over.promise]);
  } finally {
    clearTimeout(timer);
    work.catch(() => {});
  }
}
