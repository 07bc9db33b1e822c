import { type Client, isFinal, type JobEvent, type JobStream } from '../client/index.ts';

/** Follows an organization's jobs on their live stream, until it is closed. */
export class JobFollower {
  readonly #client: Client;
  readonly #organizationId: string;
  readonly #signal: AbortSignal;
  readonly #onChange: (job: JobEvent) => void;
  readonly #finished = new Map<string, JobEvent>();
  readonly #waiting = new Map<string, PromiseWithResolvers<JobEvent>>();
  #stream: JobStream | undefined;
  #failure: unknown;

  /** `onChange` is told of every change of a job; `signal` ends the stream. */
  constructor(client: Client, organizationId: string, options: { signal: AbortSignal; onChange: (job: JobEvent) => void }) {
    this.#client = client;
    this.#organizationId = organizationId;
    this.#signal = options.signal;
    this.#onChange = options.onChange;
  }

  /** Resolves once the stream is open, so that no later change is missed. Throws SheafError when it is refused. */
  async open(): Promise<void> {
    this.#stream = await this.#client.jobs.stream({ organizationId: this.#organizationId }, { signal: this.#signal });
    void this.#follow(this.#stream);
  }

  /** Waits until a job is final. Throws when the stream is refused, or gone for good. */
  async finished(jobId: string): Promise<JobEvent> {
    const known = this.#finished.get(jobId);
    if (known) return known;
    if (this.#failure !== undefined) throw this.#failure;
    const waiting = this.#waiting.get(jobId) ?? Promise.withResolvers<JobEvent>();
    this.#waiting.set(jobId, waiting);
    return await waiting.promise;
  }

  close(): void {
    void this.#stream?.return();
  }

  async #follow(stream: JobStream): Promise<void> {
    try {
      for await (const job of stream) {
        if (isFinal(job)) this.#finished.set(job.id, job);
        this.#onChange(job);
        if (isFinal(job)) this.#waiting.get(job.id)?.resolve(job);
      }
      this.#signal.throwIfAborted();
      throw new Error('The live stream of jobs was closed.');
    } catch (error) {
      this.#failure = error;
      for (const waiting of this.#waiting.values()) waiting.reject(error);
    }
  }
}
