import type { Response } from 'express';
import { KeyedSemaphore } from '../../base/concurrency/keyed-semaphore.ts';
import { whenClientLeaves } from '../../base/concurrency/when-client-leaves.ts';

/** The limits of downloads in this process. Each process counts by itself. */
export interface DownloadLimits {
  /** How many of one organization run at once, how many more may wait for a permit, and how long. */
  perOrganization: number;
  maxWaiting: number;
  patienceMs: number;
  /** How long a client may read nothing of a download. */
  idleMs: number;
}

const defaultLimits: DownloadLimits = { perOrganization: 16, maxWaiting: 100, patienceMs: 5_000, idleMs: 30_000 };

/** Bounds the files and buffers that downloads hold. A signed link can be opened any number of times, and its bytes left unread. */
export class DownloadPermits {
  readonly #limits: DownloadLimits;
  readonly #permits: KeyedSemaphore;

  constructor(limits: Partial<DownloadLimits> = {}) {
    this.#limits = { ...defaultLimits, ...limits };
    this.#permits = new KeyedSemaphore({ limit: this.#limits.perOrganization, maxWaiting: this.#limits.maxWaiting });
  }

  /**
   * Waits for a permit of the organization, which is held until the response is over. Closes the connection if the client reads nothing for
   * too long. Returns `left` if the client left before it got a permit.
   */
  async take(organizationId: string, res: Response): Promise<'taken' | 'busy' | 'left'> {
    const left = whenClientLeaves(res);
    try {
      const release = await this.#permits.acquire(organizationId, left, this.#limits.patienceMs);
      if (!release) return 'busy';
      if (res.closed) release();
      else res.once('close', release);
    } catch (error) {
      if (left.aborted) return 'left';
      throw error;
    }
    if (res.closed) return 'left';
    res.setTimeout(this.#limits.idleMs, () => res.destroy());
    return 'taken';
  }
}
