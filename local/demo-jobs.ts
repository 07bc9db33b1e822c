import { setTimeout as delay } from 'node:timers/promises';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { z } from 'zod';
import { contract } from '../contract/index.ts';
import { type DemoApi, RequestError } from './demo-api.ts';

const reconnectMs = 1000;
const maxSilentTries = 30;
const lastingRefusals = new Set(['UNAUTHORIZED', 'FORBIDDEN', 'BAD_REQUEST', 'NOT_FOUND']);
const refusalSchema = z.object({ code: z.string().default('SERVICE_UNAVAILABLE'), message: z.string().default('') });

/** A job as the live stream tells of it. */
export type DemoJob = z.output<(typeof contract.jobs.stream.responses)[200]>;

/** Follows an organization's jobs on their live stream, through every break of the connection, until it is closed. */
export class JobFollower {
  readonly #api: DemoApi;
  readonly #organizationId: string;
  readonly #onChange: (job: DemoJob) => void;
  readonly #jobs = new Map<string, DemoJob>();
  readonly #waiting = new Map<string, PromiseWithResolvers<DemoJob>>();
  readonly #closed = new AbortController();
  readonly #ended: AbortSignal;
  #lastEventId: string | undefined;
  #failure: Error | undefined;

  /** `onChange` is told of every change of a job. */
  constructor(api: DemoApi, organizationId: string, onChange: (job: DemoJob) => void) {
    this.#api = api;
    this.#organizationId = organizationId;
    this.#onChange = onChange;
    this.#ended = AbortSignal.any([this.#closed.signal, api.signal]);
  }

  /** Resolves once the stream is open, so that no later change is missed. Throws RequestError when it is refused. */
  async open(): Promise<void> {
    const stream = await this.#open();
    void this.#follow(stream);
  }

  /** Waits until a job is final. Throws when the stream is refused, or gone for half a minute. */
  async finished(jobId: string): Promise<DemoJob> {
    const known = this.#jobs.get(jobId);
    if (known && isFinal(known)) return known;
    if (this.#failure) throw this.#failure;
    const waiting = this.#waiting.get(jobId) ?? Promise.withResolvers<DemoJob>();
    this.#waiting.set(jobId, waiting);
    return await waiting.promise;
  }

  close(): void {
    this.#closed.abort();
  }

  async #follow(first: ReadableStream<Uint8Array>): Promise<void> {
    let stream: ReadableStream<Uint8Array> | undefined = first;
    let silentTries = 0;
    while (!this.#ended.aborted) {
      try {
        stream ??= await this.#open();
        if (await this.#read(stream)) silentTries = 0;
      } catch (error) {
        if (this.#ended.aborted) break;
        if (error instanceof RequestError && lastingRefusals.has(error.code)) return this.#fail(error);
      }
      stream = undefined;
      if (++silentTries > maxSilentTries) return this.#fail(new Error('The live stream of jobs is gone.'));
      await delay(reconnectMs, undefined, { signal: this.#ended }).catch(() => undefined);
    }
    this.#fail(this.#api.signal.aborted ? (this.#api.signal.reason as Error) : new Error('The live stream of jobs was closed.'));
  }

  #open(): Promise<ReadableStream<Uint8Array>> {
    return this.#api.openStream(this.#organizationId, { lastEventId: this.#lastEventId, signal: this.#ended });
  }

  /** Reads a stream to its end, and says whether it brought anything. Throws what its `error` event says. */
  async #read(stream: ReadableStream<Uint8Array>): Promise<boolean> {
    let alive = false;
    let refused: RequestError | undefined;
    const parser = createParser({
      onEvent: (event) => {
        alive = true;
        if (event.event === 'error') refused = toRefusal(event);
        else this.#take(event);
      },
      onComment: () => {
        alive = true;
        // A sign of life, and nothing else for a while: what changed before the stream was open shows here.
        void this.#refresh();
      },
    });
    const decoder = new TextDecoder();
    const reader = stream.getReader();
    const cancel = () => void reader.cancel().catch(() => undefined);
    this.#ended.addEventListener('abort', cancel);
    try {
      for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
        parser.feed(decoder.decode(chunk.value, { stream: true }));
        if (refused) throw refused;
      }
    } finally {
      this.#ended.removeEventListener('abort', cancel);
      cancel();
    }
    return alive;
  }

  #take({ id, data }: EventSourceMessage): void {
    this.#lastEventId = id ?? this.#lastEventId;
    this.#learn(contract.jobs.stream.responses[200].parse(JSON.parse(data)));
  }

  #learn(job: DemoJob): void {
    const known = this.#jobs.get(job.id);
    // After a reconnect an event may come twice.
    if (known && (isFinal(known) || known.updatedAt === job.updatedAt)) return;
    this.#jobs.set(job.id, job);
    this.#onChange(job);
    if (isFinal(job)) this.#waiting.get(job.id)?.resolve(job);
  }

  async #refresh(): Promise<void> {
    for (const id of this.#waiting.keys()) {
      const known = this.#jobs.get(id);
      if (known && isFinal(known)) continue;
      const job = await this.#api.call(contract.jobs.get, { id }).catch(() => undefined);
      if (job) this.#learn(job);
    }
  }

  #fail(error: Error): void {
    this.#failure = error;
    for (const waiting of this.#waiting.values()) waiting.reject(error);
  }
}

function isFinal(job: DemoJob): boolean {
  return job.status !== 'queued' && job.status !== 'running';
}

function toRefusal({ data }: EventSourceMessage): RequestError {
  const { code, message } = refusalSchema.parse(JSON.parse(data));
  return new RequestError(code, message);
}
