import { WaitQueue } from '../../concurrency/wait-queue.ts';
import { ApiError } from '../../contract/api-error.ts';
import type { RequestInfo } from '../procedure.ts';

export interface LargeResponsesLimits {
  /** Smaller responses are not counted. */
  smallBytes: number;
  /** How much the responses of one organization may hold at once, and those of all. One response is always allowed. */
  perOrganizationBytes: number;
  totalBytes: number;
  /** How fast an organization may read large responses: each takes up processor time that others need. */
  bytesPerSecond: number;
  /** How many of an organization's requests may wait, and how long. */
  mostWaiting: number;
  patienceMs: number;
  /** How long a client has to read a response. */
  readMs: number;
}

const megabyte = 1024 * 1024;
const defaultLimits: LargeResponsesLimits = {
  smallBytes: 64 * 1024,
  perOrganizationBytes: 4 * megabyte,
  totalBytes: 32 * megabyte,
  bytesPerSecond: 16 * megabyte,
  mostWaiting: 50,
  patienceMs: 10_000,
  readMs: 60_000,
};

type Request = Pick<RequestInfo, 'signal' | 'hangUp' | 'onClose'>;

/**
 * Bounds what large responses hold in this process, from before their contents are read until the client has read them. An organization has
 * about one at a time: its next ones wait, and nobody else does (docs/decisions/bounded-reads.md).
 */
export class LargeResponses {
  readonly #limits: LargeResponsesLimits;
  readonly #organizations = new Map<string, OrganizationResponses>();
  #bytes = 0;

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
    if (organization.waiting.length > 0 || !this.#fits(organization, bytes)) await this.#wait(request, organization, bytes);
    else this.#hold(organization, bytes);
    const slow = setTimeout(() => request.hangUp(), this.#limits.readMs).unref();
    const pausedUntil = performance.now() + (1_000 * bytes) / this.#limits.bytesPerSecond;
    request.onClose(() => {
      clearTimeout(slow);
      this.#bytes -= bytes;
      this.#serveAll();
      const end = () => this.#endPause(organizationId, organization, bytes);
      const pauseMs = pausedUntil - performance.now();
      if (pauseMs > 0) setTimeout(end, pauseMs).unref();
      else end();
    });
  }

  #fits(organization: OrganizationResponses, bytes: number): boolean {
    const { perOrganizationBytes, totalBytes } = this.#limits;
    const fitsOrganization = organization.bytes === 0 || organization.bytes + bytes <= perOrganizationBytes;
    return fitsOrganization && (this.#bytes === 0 || this.#bytes + bytes <= totalBytes);
  }

  #hold(organization: OrganizationResponses, bytes: number): void {
    organization.bytes += bytes;
    this.#bytes += bytes;
  }

  async #wait(request: Request, { waiting }: OrganizationResponses, bytes: number): Promise<void> {
    if (waiting.length >= this.#limits.mostWaiting) throw tooMany();
    const waiter = { bytes, turn: new WaitQueue() };
    waiting.push(waiter);
    const patience = AbortSignal.timeout(this.#limits.patienceMs);
    try {
      await waiter.turn.wait(AbortSignal.any([request.signal, patience]));
    } catch (error) {
      waiting.splice(waiting.indexOf(waiter), 1);
      throw patience.aborted && !request.signal.aborted ? tooMany() : error;
    }
  }

  /** Lets an organization go on, after those who did not have a turn lately. */
  #endPause(organizationId: string, organization: OrganizationResponses, bytes: number): void {
    organization.bytes -= bytes;
    this.#organizations.delete(organizationId);
    if (organization.bytes > 0 || organization.waiting.length > 0) this.#organizations.set(organizationId, organization);
    this.#serveAll();
  }

  #serveAll(): void {
    for (const organization of [...this.#organizations.values()]) this.#serve(organization);
  }

  #serve(organization: OrganizationResponses): void {
    for (let [next] = organization.waiting; next && this.#fits(organization, next.bytes); [next] = organization.waiting) {
      organization.waiting.shift();
      this.#hold(organization, next.bytes);
      next.turn.resolveNext();
    }
  }
}

interface OrganizationResponses {
  bytes: number;
  waiting: { bytes: number; turn: WaitQueue }[];
}

function tooMany(): ApiError {
  return new ApiError('TOO_MANY_REQUESTS', {
    message: 'Too many large responses for this caller or organization are being read.',
    retryAfterSeconds: 5,
  });
}
