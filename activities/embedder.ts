import {
  type AiClient,
  AiServiceError,
  anyWait,
  type CallOptions,
  type EmbedInput,
  type FloatEmbeddings,
  patiently,
  type TextEmbeddings,
} from '../adapters/ai-service/client.ts';
import { Semaphore } from '../base/concurrency/semaphore.ts';
import { JobFailure } from './job-failure.ts';

/** The embedding profile of a model. */
interface Profile {
  /** The size of a document's chunks. */
  chunkCharacters: number;
  textsPerCall: number;
}

const defaultTextsPerCall = 32;
/** How long the reported profiles are cached. */
const defaults = { profilesKeptMs: 60_000 };

interface Profiles {
  /** The profile of the service's own model. */
  own: Profile;
  byModel: Map<string, Profile>;
}

interface EmbedAllOptions extends CallOptions {
  signal: AbortSignal;
  /** The index whose model should embed, if the service has it; by default the service's own model. */
  index?: { model: string; dimensions: number } | undefined;
  textsPerCall?: number;
  /** The time until which calls are repeated after a `Retry-After`, as `Date.now()`; by default they are not. */
  until?: number;
  /** Called with the number of embedded texts. */
  onProgress?: (embedded: number) => void;
}

/** The text to embed if there are none, since the result names the model even then. A single token for a remote model. */
const shortestText = 'a';

type Embedded<V> = { model: string; dimensions: number; vectors: V[] };
type Embed<V> = (input: EmbedInput) => Promise<Embedded<V>>;

/**
 * Embeds the chunks of whole documents and the texts of jobs, with at most `concurrency` calls at a time for all attempts of this process
 * (`WORKER_EMBED_CALLS`). Calls run in the order of attempts, so that the chunks of one document are stored while those of the next one are
 * embedded.
 */
export class Embedder {
  private readonly ai: AiClient;
  private readonly calls: Semaphore;
  private readonly settings: typeof defaults;
  private profiles: { at: number; of: Promise<Profiles> } | undefined;
  private lastKnown: Profiles | undefined;

  constructor(ai: AiClient, concurrency: number, settings: Partial<typeof defaults> = {}) {
    this.ai = ai;
    this.calls = new Semaphore(concurrency);
    this.settings = { ...defaults, ...settings };
  }

  /**
   * The profile of a model of the AI service, or of the service's own model if it lacks that one. Asks the service once a minute. If it
   * does not respond, the last profiles count. Throws a retryable AiServiceError or JobFailure if there are none.
   */
  async profileOf(model: string | undefined): Promise<Profile> {
    if (!this.profiles || Date.now() - this.profiles.at >= this.settings.profilesKeptMs)
      this.profiles = { at: Date.now(), of: this.readProfiles() };
    const { own, byModel } = await this.profiles.of;
    return (model !== undefined && byModel.get(model)) || own;
  }

  /** The number of texts for each call of the service's own model; the default while the service does not respond. */
  async textsPerCall(): Promise<number> {
    const profile = await this.profileOf(undefined).catch(() => undefined);
    return profile?.textsPerCall ?? defaultTextsPerCall;
  }

  /**
   * Embeds any number of texts; one vector for each, in their order. Throws AiServiceError, the signal's reason, or a JobFailure if the
   * model changed between two calls. After a failure no further call is made.
   */
  embedAll(texts: string[], options: EmbedAllOptions): Promise<FloatEmbeddings> {
    return this.embedInCalls((input) => this.ai.embedFloats(input), texts, options);
  }

  /** As {@link embedAll}, with the model's own numbers instead of 32-bit floats. */
  embedNumbers(texts: string[], options: EmbedAllOptions): Promise<TextEmbeddings> {
    return this.embedInCalls((input) => this.ai.embed(input), texts, options);
  }

  private async embedInCalls<V>(embed: Embed<V>, texts: string[], options: EmbedAllOptions): Promise<Embedded<V>> {
    const failed = new AbortController();
    const ends = AbortSignal.any([options.signal, failed.signal]);
    const calls: Promise<Embedded<V>>[] = [];
    const embedded = texts.length > 0 ? texts : [shortestText];
    const { textsPerCall = defaultTextsPerCall, onProgress } = options;
    let done = 0;
    for (let start = 0; start < embedded.length; start += textsPerCall) {
      const batch = embedded.slice(start, start + textsPerCall);
      const patience = { until: options.until ?? 0, signal: ends, asked: anyWait };
      const { requestId, tenant, owner, index } = options;
      const call = this.calls.run(
        () => patiently(() => embed({ texts: batch, index, signal: ends, requestId, tenant, owner }), patience),
        ends,
      );
      calls.push(call);
      call.then(
        () => {
          done += batch.length;
          onProgress?.(done);
        },
        () => {},
      );
    }
    try {
      const joined = join(await Promise.all(calls));
      return texts.length > 0 ? joined : { ...joined, vectors: [] };
    } finally {
      failed.abort();
    }
  }

  /**
   * Reads the profiles of the AI service. No default is assumed for a missing profile, since chunks of another size belong to another kind
   * of index.
   */
  private async readProfiles(): Promise<Profiles> {
    try {
      const { embeddings } = await this.ai.health();
      this.lastKnown = { own: embeddings[0], byModel: new Map(embeddings.map((one) => [one.model, one])) };
      return this.lastKnown;
    } catch (error) {
      if (this.lastKnown) return this.lastKnown;
      this.profiles = undefined;
      if (error instanceof AiServiceError && error.retryable) throw error;
      // A refusal is about the deployment, not about a document.
      throw new JobFailure('ai_unavailable', 'The AI service is not available just now.', true, { cause: error });
    }
  }
}

function join<V>(batches: Embedded<V>[]): Embedded<V> {
  const { model = '', dimensions = 0 } = batches[0] ?? {};
  // Vectors of two models cannot be compared: the next attempt embeds all texts with the new one.
  const changed = batches.some((batch) => batch.model !== model || batch.dimensions !== dimensions);
  if (changed) throw new JobFailure('model_changed', 'The embedding model changed during the job.', true);
  return { model, dimensions, vectors: batches.flatMap((batch) => batch.vectors) };
}
