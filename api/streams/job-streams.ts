import { AsyncLocalStorage } from 'node:async_hooks';
import { ApiError } from '../../contract/api-error.ts';
import { callerId, isKey } from '../caller.ts';
import type { StreamEvent } from '../procedure.ts';
import { decodeEventId, encodeEventId } from './job-events.ts';
import { type FeedOptions, JobStream, type OpenStream } from './job-stream.ts';
import type { StreamLeases } from './leases.ts';
import { OrganizationFeed } from './organization-feed.ts';
import { type FindMembership, reauthorize } from './reauthorize.ts';

export interface JobStreamsOptions extends Omit<FeedOptions, 'organizationId'> {
  /** Each stream acquires one of its user's leases here. */
  leases: StreamLeases;
  findMembership: FindMembership;
  limits?: Partial<StreamLimits>;
}

/** How long a stream lives, how often its caller is authorized again, and how long its client may leave an event unread; in ms. */
interface StreamLimits {
  lifetimeMs: number;
  recheckMs: number;
  stallMs: number;
}

const defaultLimits: StreamLimits = { lifetimeMs: 15 * 60_000, recheckMs: 30_000, stallMs: 20_000 };

/** The seconds after which a client with too many streams may retry. Browsers wait only if this is sent to them. */
const refusedSeconds = 60;

/** Before the stream of an API key sends an event, it checks the key again if the last check is older than this, in milliseconds. */
const freshMs = 1_000;

/** The open job streams of this process. */
export class JobStreams {
  readonly #options: JobStreamsOptions;
  readonly #limits: StreamLimits;
  /** By the organization; each has an open stream. */
  readonly #feeds = new Map<string, OrganizationFeed>();
  /** The async context outside of the request that opens an organization's first stream. */
  readonly #outside = AsyncLocalStorage.snapshot();

  constructor(options: JobStreamsOptions) {
    this.#options = options;
    this.#limits = { ...defaultLimits, ...options.limits };
  }

  /**
   * Opens a stream. Throws BAD_REQUEST for a `lastEventId` of another stream. From then on it misses no change. Reading the first event
   * throws TOO_MANY_REQUESTS if the user has five streams already.
   */
  async open(request: OpenStream): Promise<AsyncIterable<StreamEvent>> {
    const { organizationId, lastEventId } = request;
    const since = lastEventId === undefined ? undefined : decodeEventId(this.#options.cursors, organizationId, lastEventId);
    const options = { ...this.#options, organizationId, stallMs: this.#limits.stallMs };
    const feed = this.#feeds.get(organizationId) ?? this.#outside(() => new OrganizationFeed(options));
    this.#feeds.set(organizationId, feed);
    const stream = new JobStream(request, since, options);
    feed.streams.add(stream);
    request.onClose(() => {
      stream.end();
      if (feed.streams.delete(stream) && feed.streams.size === 0) this.#feeds.delete(organizationId);
    });
    await feed.ready;
    return this.#events(stream);
  }

  /** The event id of the present moment. A stream that breaks off before its first event resumes from it. */
  position(organizationId: string): string {
    return encodeEventId(this.#options.cursors, organizationId, { at: this.#options.now(), id: '' });
  }

  /** Call it with a notification of changed jobs, whose payload begins with their organization. */
  notify(payload: string): void {
    const [organizationId = ''] = payload.split(' ');
    this.#feeds.get(organizationId)?.wake();
  }

  /** Call it if notifications may have been lost. */
  wakeAll(): void {
    for (const feed of this.#feeds.values()) feed.wake();
  }

  /** How many streams are open. */
  count(): number {
    return this.#streams().length;
  }

  /** Ends every stream, so that the process can stop. */
  close(): void {
    for (const stream of this.#streams()) stream.end();
  }

  #streams(): JobStream[] {
    return [...this.#feeds.values()].flatMap(({ streams }) => [...streams]);
  }

  async *#events(stream: JobStream): AsyncGenerator<StreamEvent> {
    const { leases, findMembership, log } = this.#options;
    const { caller, streamId } = stream.request;
    const lease = await leases.acquire({ userId: callerId(caller), streamId, onLost: () => stream.end() });
    if (!lease)
      throw new ApiError('TOO_MANY_REQUESTS', {
        message: `A user may hold ${leases.perUser} job streams at once.`,
        retryAfterSeconds: refusedSeconds,
      });
    const reauthorization = reauthorize(stream, lease, { findMembership, everyMs: this.#limits.recheckMs, log });
    const lifetime = setTimeout(() => stream.end(), this.#limits.lifetimeMs).unref();
    try {
      for await (const event of stream.events()) {
        // A key may be revoked because it is in wrong hands, so no event is sent if the last check is older than a second.
        if (isKey(caller)) await reauthorization.refresh(freshMs);
        if (!stream.isOver) yield event;
      }
    } finally {
      reauthorization.stop();
      clearTimeout(lifetime);
      const onError = (err: unknown) => log.warn({ err }, "a stream's lease was not released; it ends by itself");
      await lease.release().catch(onError);
    }
  }
}
