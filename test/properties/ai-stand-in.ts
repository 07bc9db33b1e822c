import { type AiClient, AiServiceError } from '../../adapters/ai-service/client.ts';

/** A call that the AI service has not answered yet. */
export interface AiCall {
  answer(): void;
  /** `final`: the input is to blame, so that no further attempt can do better. */
  fail(final: boolean): void;
}

const failed = { kind: 'failed', code: 'internal', message: 'It failed.', retryable: true } as const;
const rejected = { kind: 'rejected', code: 'unreadable', message: 'It cannot be read.', retryable: false } as const;

/** An AI service whose calls stay open until a test ends them, in any order. */
export class AiStandIn {
  readonly client = {
    embed: ({ texts }: { texts: string[] }) => this.#open({ model: 'stand-in', dimensions: 2, vectors: texts.map(() => [0.6, 0.8]) }),
    summarize: ({ text }: { text: string }) => this.#open({ summary: 'Short.', sentences: 1, model: 'stand-in', characters: text.length }),
    health: async () => ({ ok: true, embeddings: [{ model: 'stand-in', dimensions: 2, chunkCharacters: 1_200, textsPerCall: 32 }] }),
  } as unknown as AiClient;
  #onCall: ((call: AiCall) => void) | undefined;

  /** The call that work makes next, or what came of the work if it made none. */
  async callOf<T>(work: () => Promise<T>): Promise<{ call: AiCall; result: Promise<T> } | { call?: undefined; result: Promise<T> }> {
    const called = new Promise<AiCall>((resolve) => {
      this.#onCall = resolve;
    });
    const result = work();
    // A test may look at the result much later.
    const ended = result.then(
      () => undefined,
      () => undefined,
    );
    const call = await Promise.race([called, ended]);
    return call ? { call, result } : { result };
  }

  #open<T>(answer: T): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    this.#onCall?.({ answer: () => resolve(answer), fail: (final) => reject(new AiServiceError(final ? rejected : failed)) });
    return promise;
  }
}
