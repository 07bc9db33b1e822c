import { WaitQueue } from '../../concurrency/wait-queue.ts';
import { ApiError } from '../../contract/api-error.ts';
import type { RequestInfo } from '../procedure.ts';

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
  /** How fast an organization may read large responses: each takes up processor time that others need. */
  bytesPerSecond: number;
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
  mostWaiting: 50,
  patienceMs: 10_000,
  readMs: 60_000,
  contendedReadMs: 5_000,
};

type Request = Pick<RequestInfo, 'signal' | 'userId' | 'hangUp' | 'isWritten' | 'onClose'>;

/**
 * Bounds what large responses hold in this process, from before their contents are read until the client has read them. An organization has
 * about one at a time, and a user two: their next ones wait, and nobody else does (docs/decisions/bounded-reads.md).
 */
export class LargeResponses {
  readonly #limits: LargeResponsesLimits;
  readonly #organizations = new Map<string, OrganizationResponses>();
  readonly #userBytes = new Map<string, number>();
  readonly #held = new Set<HeldResponse>();
  #bytes = 0;
  #watch: NodeJS.Timeout | undefined;

  constructor(limits: Partial<LargeResponsesLimits> = {}) {
    this.#limits = { ...defaultLimits, ...limits };
  }

  /** What the responses that were admitted hold now, in bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Waits until a response may be read and sent. Throws TOO_MANY_REQUESTS if too many requests of its organization wait, or if it waits for
   * too long. Rejects with the signal's reason if the client leaves.
   */
  async admit(request: Request, organizationId: string, bytes: number): Promise<void> {
    if (bytes <= this.#limits.smallBytes) return;
    const organization = this.#organizations.get(organizationId) ?? { bytes: 0, waiting: [] };
    this.#organizations.set(organizationId, organization);
    const response = { request, bytes, writtenAt: undefined };
    if (organization.waiting.length > 0 || !this.#fits(organization, response)) await this.#wait(organization, response);
    else this.#hold(organization, response);
    const slow = setTimeout(() => request.hangUp(), this.#limits.readMs).unref();
    const pausedUntil = performance.now() + (1_000 * bytes) / this.#limits.bytesPerSecond;
    request.onClose(() => {
      clearTimeout(slow);
      this.#held.delete(response);
      this.#bytes -= bytes;
      this.#serveAll();
      const end = () => this.#endPause(organizationId, organization, response);
      const pauseMs = pausedUntil - performance.now();
      if (pauseMs > 0) setTimeout(end, pauseMs).unref();
      else end();
    });
  }

  #fits(organization: OrganizationResponses, response: Response): boolean {
    return this.#fitsOrganization(organization, response) && this.#fitsUser(response) && this.#fitsTotal(response);
  }

  #fitsOrganization({ bytes: held }: OrganizationResponses, { bytes }: Response): boolean {
    return held === 0 || held + bytes <= this.#limits.perOrganizationBytes;
  }

  #fitsUser({ request: { userId }, bytes }: Response): boolean {
    const held = userId === undefined ? 0 : (this.#userBytes.get(userId) ?? 0);
    return held === 0 || held + bytes <= this.#limits.perUserBytes;
  }

  #fitsTotal({ bytes }: Response): boolean {
    return this.#bytes === 0 || this.#bytes + bytes <= this.#limits.totalBytes;
  }

  #hold(organization: OrganizationResponses, response: HeldResponse): void {
    this.#count(organization, response, response.bytes);
    this.#bytes += response.bytes;
    this.#held.add(response);
    this.#startWatch();
  }

  #count(organization: OrganizationResponses, { request: { userId } }: Response, bytes: number): void {
    organization.bytes += bytes;
    if (userId === undefined) return;
    const left = (this.#userBytes.get(userId) ?? 0) + bytes;
    if (left > 0) this.#userBytes.set(userId, left);
    else this.#userBytes.delete(userId);
  }

  async #wait(organization: OrganizationResponses, response: HeldResponse): Promise<void> {
    const { waiting } = organization;
    const { signal } = response.request;
    if (waiting.length >= this.#limits.mostWaiting) throw tooMany();
    const waiter = { response, turn: new WaitQueue() };
    waiting.push(waiter);
    const patience = AbortSignal.timeout(this.#limits.patienceMs);
    try {
      const turn = waiter.turn.wait(AbortSignal.any([signal, patience]));
      // Those before it may wait for something else than this one.
      this.#serve(organization);
      await turn;
    } catch (error) {
      waiting.splice(waiting.indexOf(waiter), 1);
      throw patience.aborted && !signal.aborted ? tooMany() : error;
    }
  }

  /** Lets an organization go on, after those who did not have a turn lately. */
  #endPause(organizationId: string, organization: OrganizationResponses, response: Response): void {
    this.#count(organization, response, -response.bytes);
    this.#organizations.delete(organizationId);
    if (organization.bytes > 0 || organization.waiting.length > 0) this.#organizations.set(organizationId, organization);
    this.#serveAll();
  }

  #serveAll(): void {
    for (const organization of [...this.#organizations.values()]) this.#serve(organization);
  }

  /** Serves those who wait in their order, except that nobody waits behind another member's limit. */
  #serve(organization: OrganizationResponses): void {
    for (const waiter of [...organization.waiting]) {
      const { response, turn } = waiter;
      if (!this.#fitsUser(response)) continue;
      if (!this.#fitsOrganization(organization, response) || !this.#fitsTotal(response)) return;
      organization.waiting.splice(organization.waiting.indexOf(waiter), 1);
      this.#hold(organization, response);
      turn.resolveNext();
    }
  }

  /** Notes which responses are left unread, as long as there are any. */
  #startWatch(): void {
    this.#watch ??= setInterval(() => {
      const now = performance.now();
      for (const response of this.#held) if (response.request.isWritten()) response.writtenAt ??= now;
      if (this.#held.size > 0) this.#makeRoom(now);
      else this.#stopWatch();
    }, this.#limits.contendedReadMs / 5).unref();
  }

  #stopWatch(): void {
    clearInterval(this.#watch);
    this.#watch = undefined;
  }

  /** Ends responses that have been left unread while somebody waits for the total alone: first those of the users who hold most. */
  #makeRoom(now: number): void {
    const first = this.#findWaitingForTotal();
    if (!first) return;
    let missing = this.#bytes + first.bytes - this.#limits.totalBytes;
    const unread = [...this.#held].filter(({ writtenAt }) => writtenAt !== undefined && now - writtenAt >= this.#limits.contendedReadMs);
    const heldBy = ({ request: { userId } }: Response) => this.#userBytes.get(userId ?? '') ?? 0;
    for (const response of unread.sort((one, other) => heldBy(other) - heldBy(one))) {
      if (missing <= 0) return;
      missing -= response.bytes;
      response.request.hangUp();
    }
  }

  #findWaitingForTotal(): Response | undefined {
    for (const organization of this.#organizations.values()) {
      const next = organization.waiting.find(({ response }) => this.#fitsUser(response));
      if (next && this.#fitsOrganization(organization, next.response)) return next.response;
    }
    return undefined;
  }
}

interface Response {
  request: Request;
  bytes: number;
}

interface HeldResponse extends Response {
  /** When it was first seen that all of it has been written, as `performance.now()`: the rest is up to its client. */
  writtenAt: number | undefined;
}

interface OrganizationResponses {
  bytes: number;
  waiting: { response: HeldResponse; turn: WaitQueue }[];
}

function tooMany(): ApiError {
  return new ApiError('TOO_MANY_REQUESTS', {
    message: 'Too many large responses for this caller or organization are being read.',
    retryAfterSeconds: 5,
  });
}
