/** A source of bytes, and its failure once it has failed. */
interface NotedSource {
  source: AsyncIterable<Buffer>;
  failure?: { reason: unknown };
}

/** Passes the bytes on, and records a failure of their source, to distinguish it from one of the reading code. */
export function noteFailure(source: AsyncIterable<Buffer>): NotedSource {
  const noted: NotedSource = { source: read() };
  async function* read(): AsyncGenerator<Buffer> {
    try {
      yield* source;
    } catch (reason) {
      noted.failure = { reason };
      throw reason;
    }
  }
  return noted;
}
