import { BytesByKey } from '../../concurrency/bytes-by-key.ts';
import type { Neighbours } from '../../concurrency/neighbours.ts';
import { pause } from '../../concurrency/pause.ts';
import { type Room, RoomQueue } from '../../concurrency/room-queue.ts';
import { ApiError } from '../../contract/api-error.ts';
import type { Pace } from '../../domain/page.ts';
import type { RequestInfo } from '../procedure.ts';
import { type HeldForClient, SlowClients } from './slow-clients.ts';

export interface LargeResponsesLimits {
  /** Smaller responses are not counted. */
  smallBytes: number;
  /**
   * How much the responses of one organization may hold at once, those of one user in all organizations, and those of all. One response is
   * always allowed.
   */
  perOrganizationBytes: number;
  perUserBytes: number;
  totalBytes: number;
  /** How fast an organization may read large responses, alone and while others are served: each takes up processor time that they need. */
  bytesPerSecond: number;
  sharedBytesPerSecond: number;
  /** Pages up to this size are read and written at once all the same, and so is the first one after so long without a larger one. */
  pacedAboveBytes: number;
  pacedWithinMs: number;
  /** How many of an organization's requests may wait, and how long. */
  mostWaiting: number;
  patienceMs: number;
  /** How long a client has to read a response, and how long while others wait for the room that it takes. */
  readMs: number;
  contendedReadMs: number;
}

const megabyte = 1024 * 1024;
const defaultLimits: LargeResponsesLimits = {
  smallBytes: 64 * 1024,
  perOrganizationBytes: 4 * megabyte,
  perUserBytes: 8 * megabyte,
  totalBytes: 32 * megabyte,
  bytesPerSecond: 16 * megabyte,
  sharedBytesPerSecond: 2 * megabyte,
  pacedAboveBytes: megabyte / 2,
  pacedWithinMs: 10_000,
  mostWaiting: 50,
  patienceMs: 10_000,
  readMs: 60_000,
  contendedReadMs: 5_000,
};

type Request = Pick<RequestInfo, 'signal' | 'userId' | 'hangUp' | 'isWritten' | 'onClose' | 'paceResponse'>;

/**
 * Bounds what large responses hold in this process, from before their contents are read until the client has read them. An organization has
 * about one at a time, and a user two: their next ones wait, and nobody else does (docs/decisions/bounded-reads.md).
 */
export class LargeResponses {
  readonly #limits: LargeResponsesLimits;
  readonly #neighbours: Neighbours | undefined;
  readonly #waiting: RoomQueue<Response>;
  /** What organizations and users may not use again yet: also of a response that has been read, until the pause after it is over. */
  readonly #organizations = new BytesByKey();
  readonly #users = new BytesByKey();
  /** Large pages of organizations and users, also for a while after they have been read. */
  readonly #pages = new BytesByKey();
  readonly #slow: SlowClients;
  #bytes = 0;

  /** Without `neighbours` an organization counts as alone. */
  constructor(limits: Partial<LargeResponsesLimits> = {}, neighbours?: Neighbours) {
    this.#limits = { ...defaultLimits, ...limits };
    this.#neighbours = neighbours;
    this.#waiting = new RoomQueue({
      maxWaiting: this.#limits.mostWaiting,
      roomFor: (response) => this.#roomFor(response),
      take: (response) => this.#hold(response),
    });
    this.#slow = new SlowClients({
      patienceMs: this.#limits.contendedReadMs,
      missingBytes: () => this.#missingBytes(),
      bytesOf: (userId) => this.#users.of(userId),
    });
  }

  /** What the responses that were admitted hold now, in bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Waits until a response may be read and sent. If too many requests of its organization wait, or it waits for too long, throws
   * TOO_MANY_REQUESTS if its user or organization has too much under way, and SERVICE_UNAVAILABLE if only all have. Rejects with the
   * signal's reason if the client leaves.
   */
  async admit(request: Request, organizationId: string, bytes: number): Promise<void> {
    if (bytes <= this.#limits.smallBytes) return;
    const { userId, isWritten, hangUp } = request;
    const response = { organizationId, owner: userId, bytes, isUpToClient: isWritten, hangUp };
    const isAdmitted = await this.#waiting.take(organizationId, response, this.#limits.patienceMs, request.signal);
    if (!isAdmitted) throw refusal(['own full', 'key full'].includes(this.#roomFor(response)));
    const unread = setTimeout(hangUp, this.#limits.readMs).unref();
    const { bytesPerSecond, sharedBytesPerSecond } = this.#limits;
    const pausedUntil = performance.now() + (1_000 * bytes) / (this.#isShared(organizationId) ? sharedBytesPerSecond : bytesPerSecond);
    request.onClose(() => {
      clearTimeout(unread);
      this.#slow.delete(response);
      this.#bytes -= bytes;
      this.#waiting.serve();
      const endPause = () => {
        this.#count(response, -bytes);
        this.#waiting.serve();
      };
      const pauseMs = pausedUntil - performance.now();
      if (pauseMs > 0) setTimeout(endPause, pauseMs).unref();
      else endPause();
    });
  }

  /**
   * The same for a page, which is read and written in parts while others are served: half of the time that its organization has for it
   * passes between the parts that are read, and half between those that are written. Returns the pace; undefined if nobody else is served,
   * the page is small, or neither the organization nor the user has read a large one lately.
   */
  async admitPage(request: Request, organizationId: string, bytes: number): Promise<Pace | undefined> {
    const isFirst = bytes > this.#limits.pacedAboveBytes && this.#notePage(request, organizationId);
    await this.admit(request, organizationId, bytes);
    if (bytes <= this.#limits.pacedAboveBytes || isFirst || !this.#isShared(organizationId)) return undefined;
    const { signal } = request;
    const wait = async (partBytes: number) => {
      // Somebody waits for the room that this page takes.
      if (this.#waiting.findWaitingForAll()) return;
      await pause((500 * partBytes) / this.#limits.sharedBytesPerSecond, signal);
    };
    request.paceResponse(wait);
    return async (partBytes) => {
      await wait(partBytes);
      signal.throwIfAborted();
    };
  }

  /** Returns whether it is the first one for a while. */
  #notePage(request: Request, organizationId: string): boolean {
    const keys = [organizationId, ...(request.userId === undefined ? [] : [request.userId])];
    const isFirst = keys.every((key) => this.#pages.of(key) === 0);
    const count = (pages: number) => {
      for (const key of keys) this.#pages.add(key, pages);
    };
    count(1);
    request.onClose(() => setTimeout(() => count(-1), this.#limits.pacedWithinMs).unref());
    return isFirst;
  }

  #isShared(organizationId: string): boolean {
    return this.#neighbours?.hasOthers(organizationId) ?? false;
  }

  /** Nobody waits behind another member's limit. */
  #roomFor({ owner, organizationId, bytes }: Response): Room {
    const { perUserBytes, perOrganizationBytes, totalBytes } = this.#limits;
    const fits = (held: number, limit: number) => held === 0 || held + bytes <= limit;
    if (owner !== undefined && !fits(this.#users.of(owner), perUserBytes)) return 'own full';
    if (!fits(this.#organizations.of(organizationId), perOrganizationBytes)) return 'key full';
    return fits(this.#bytes, totalBytes) ? 'free' : 'all full';
  }

  #hold(response: Response): void {
    this.#count(response, response.bytes);
    this.#bytes += response.bytes;
    this.#slow.add(response);
  }

  #missingBytes(): number {
    const first = this.#waiting.findWaitingForAll();
    return first ? this.#bytes + first.bytes - this.#limits.totalBytes : 0;
  }

  #count({ owner, organizationId }: Response, bytes: number): void {
    this.#organizations.add(organizationId, bytes);
    if (owner !== undefined) this.#users.add(owner, bytes);
  }
}

interface Response extends HeldForClient {
  organizationId: string;
}

function refusal(ofCaller: boolean): ApiError {
  return ofCaller
    ? new ApiError('TOO_MANY_REQUESTS', {
        message: 'Too many large responses for this caller or organization are being read.',
        retryAfterSeconds: 5,
      })
    : new ApiError('SERVICE_UNAVAILABLE', { message: 'Too many large responses are being read: try again in a moment.' });
}
