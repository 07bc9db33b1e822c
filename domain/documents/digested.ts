import { createHash } from 'node:crypto';

/** How many bytes there are, and their SHA-256 in hex. */
export interface Digest {
  sizeBytes: number;
  sha256: string;
}

/** Passes bytes on. `result`, which is asked for once, is of those that were read until then. */
export function digested(source: AsyncIterable<Buffer>): { bytes: AsyncGenerator<Buffer>; result(): Digest } {
  const hash = createHash('sha256');
  let sizeBytes = 0;
  async function* pass() {
    for await (const chunk of source) {
      hash.update(chunk);
      sizeBytes += chunk.length;
      yield chunk;
    }
  }
  return { bytes: pass(), result: () => ({ sizeBytes, sha256: hash.digest('hex') }) };
}
