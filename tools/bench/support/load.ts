import autocannon from 'autocannon';

/** Requests a second that a URL answers with 200 under a steady load. Throws where any answer is another. */
export async function requestsPerSecond(options: autocannon.Options & { seconds: number }): Promise<number> {
  const { seconds, ...rest } = options;
  const result = await autocannon({ connections: 20, duration: seconds, ...rest });
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${options.url}: ${result.non2xx} answers were no success, ${result.errors} failed`);
  return result['2xx'] / result.duration;
}
