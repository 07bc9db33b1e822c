import { WaitQueue } from '../../concurrency/wait-queue.ts';
import { ApiError } from '../../contract/api-error.ts';
import type { RequestInfo } from '../procedure.ts';

export interface LargeAnswersLimits {
  /** Smaller answers are not counted. */
  smallBytes: number;
  /** How much the answers of one organization may hold at once, and those of all. One answer is always allowed. */
  perOrganizationBytes: number;
  totalBytes: number;
  /** How fast an organization may read large answers: each takes up processor time that others need. */
  bytesPerSecond: number;
  /** How many of an organization's requests may wait, and how long. */
  mostWaiting: number;
  patienceMs: number;
  /** How long a client has to read an answer. */
  readMs: number;
}

const megabyte = 1024 * 1024;
const defaultLimits: LargeAnswersLimits = {
  smallBytes: 64 * 1024,
  perOrganizationBytes: 4 * megabyte,
  totalBytes: 32 * megabyte,
  bytesPerSecond: 16 * megabyte,
  mostWaiting: 50,
  patienceMs: 10_000,
  readMs: 60_000,
};

type Answer = Pick<RequestInfo, 'signal' | 'hangUp' | 'setHeader' | 'onClose'>;

/**
 * Bounds what large answers hold in this process, from before their contents are read until the client has read them. An organization has
 * about one at a time: its next ones wait, and nobody else does (docs/decisions/bounded-reads.md).
 */
export class LargeAnswers {
  readonly #limits: LargeAnswersLimits;
  readonly #organizations = new Map<string, OrganizationAnswers>();
  #bytes = 0;

  constructor(limits: Partial<LargeAnswersLimits> = {}) {
    this.#limits = { ...defaultLimits, ...limits };
  }

  /** What the answers that were admitted hold now, in bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Waits until an answer may be read and sent. Throws TOO_MANY_REQUESTS if too many requests of its organization wait, or if it waits for
   * too long. Rejects with the signal's reason if the client leaves.
   */
  async admit(request: Answer, organizationId: string, bytes: number): Promise<void> {
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

  #fits(organization: OrganizationAnswers, bytes: number): boolean {
    const { perOrganizationBytes, totalBytes } = this.#limits;
    const fitsOrganization = organization.bytes === 0 || organization.bytes + bytes <= perOrganizationBytes;
    return fitsOrganization && (this.#bytes === 0 || this.#bytes + bytes <= totalBytes);
  }

  #hold(organization: OrganizationAnswers, bytes: number): void {
    organization.bytes += bytes;
    this.#bytes += bytes;
  }

  async #wait(request: Answer, { waiting }: OrganizationAnswers, bytes: number): Promise<void> {
    if (waiting.length >= this.#limits.mostWaiting) throw tooMany(request);
    const waiter = { bytes, turn: new WaitQueue() };
    waiting.push(waiter);
    const patience = AbortSignal.timeout(this.#limits.patienceMs);
    try {
      await waiter.turn.wait(AbortSignal.any([request.signal, patience]));
    } catch (error) {
      waiting.splice(waiting.indexOf(waiter), 1);
      throw patience.aborted && !request.signal.aborted ? tooMany(request) : error;
    }
  }

  /** Lets an organization go on, after those who did not have a turn lately. */
  #endPause(organizationId: string, organization: OrganizationAnswers, bytes: number): void {
    organization.bytes -= bytes;
    this.#organizations.delete(organizationId);
    if (organization.bytes > 0 || organization.waiting.length > 0) this.#organizations.set(organizationId, organization);
    this.#serveAll();
  }

  #serveAll(): void {
    for (const organization of [...this.#organizations.values()]) this.#serve(organization);
  }

  #serve(organization: OrganizationAnswers): void {
    for (let [next] = organization.waiting; next && this.#fits(organization, next.bytes); [next] = organization.waiting) {
      organization.waiting.shift();
      this.#hold(organization, next.bytes);
      next.turn.resolveNext();
    }
  }
}

interface OrganizationAnswers {
  bytes: number;
  waiting: { bytes: number; turn: WaitQueue }[];
}

function tooMany(request: Answer): ApiError {
  request.setHeader('Retry-After', '5');
  return new ApiError('TOO_MANY_REQUESTS', { message: 'Too many large answers for this organization are being read.' });
}
