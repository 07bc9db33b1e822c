import type { Response } from 'express';
import { KeyedSemaphore } from '../../concurrency/keyed-semaphore.ts';
import { whenClientLeaves } from '../../concurrency/when-client-leaves.ts';

/** What downloads may take of this process. Each process counts its own. */
export interface DownloadLimits {
  /** How many of one organization run at once, how many more may wait for a permit, and how long. */
  perOrganization: number;
  maxWaiting: number;
  patienceMs: number;
  /** How long a client may take nothing of a download. */
  idleMs: number;
}

const defaultLimits: DownloadLimits = { perOrganization: 16, maxWaiting: 100, patienceMs: 5_000, idleMs: 30_000 };

/**
 * Bounds what downloads hold: a file and its buffers each. One signed link can be opened any number of times, and its bytes left unread.
 */
export class DownloadPermits {
  readonly #limits: DownloadLimits;
  readonly #permits: KeyedSemaphore;

  constructor(limits: Partial<DownloadLimits> = {}) {
    this.#limits = { ...defaultLimits, ...limits };
    this.#permits = new KeyedSemaphore({ limit: this.#limits.perOrganization, maxWaiting: this.#limits.maxWaiting });
  }

  /**
   * Waits for a permit of the organization, which lasts until the response is over. From then on the connection is closed if nothing of the
   * response drains for too long. Returns whether there was one: `left` if the client did not wait for it.
   */
  async take(organizationId: string, res: Response): Promise<'taken' | 'busy' | 'left'> {
    const left = whenClientLeaves(res);
    try {
      const release = await this.#permits.acquireWithin(organizationId, this.#limits.patienceMs, left);
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
