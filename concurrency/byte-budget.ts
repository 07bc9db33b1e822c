import type { Release } from './semaphore.ts';
import { WaitQueue } from './wait-queue.ts';

export interface ByteBudgetLimits {
  /** What all keys may hold at once, and each of them. */
  totalBytes: number;
  bytesPerKey: number;
  /** How many callers of one key may wait. */
  maxWaiting: number;
}

interface Share {
  bytes: number;
  waiting: { bytes: number; turn: WaitQueue }[];
}

/** Bytes that a caller holds. */
export interface HeldBytes {
  /** Gives back what is more than so many bytes. */
  shrinkTo(bytes: number): void;
  /** Gives back all of them. A second call does nothing. */
  release: Release;
}

/** Bytes that are shared by keys. The keys are served in turns, and the callers of one key in the order in which they came. */
export class ByteBudget {
  readonly #limits: ByteBudgetLimits;
  /** Only keys that hold something or wait; the one that is served next comes first. */
  readonly #shares = new Map<string, Share>();
  #bytes = 0;

  constructor(limits: ByteBudgetLimits) {
    this.#limits = limits;
  }

  /** What is held now, in bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Whether the key's own share has no room for so many bytes. */
  isExhausted(key: string, bytes: number): boolean {
    return (this.#shares.get(key)?.bytes ?? 0) + bytes > this.#limits.bytesPerKey;
  }

  /**
   * Waits until there is room for `bytes`, which are no more than one key may hold; undefined after `patienceMs`, or at once if too many of
   * the key wait already. Rejects with the signal's reason.
   */
  async acquireWithin(key: string, bytes: number, patienceMs: number, signal: AbortSignal): Promise<HeldBytes | undefined> {
    signal.throwIfAborted();
    const share = this.#shares.get(key) ?? { bytes: 0, waiting: [] };
    this.#shares.set(key, share);
    if (share.waiting.length > 0 || !this.#fits(share, bytes)) {
      if (!(await this.#wait(share, bytes, patienceMs, signal))) return undefined;
    } else this.#change(share, bytes);
    let held = bytes;
    const shrinkTo = (left: number) => {
      if (left >= held) return;
      this.#change(share, left - held);
      held = left;
      this.#serveAll();
    };
    return { shrinkTo, release: () => shrinkTo(0) };
  }

  #fits(share: Share, bytes: number): boolean {
    return share.bytes + bytes <= this.#limits.bytesPerKey && this.#bytes + bytes <= this.#limits.totalBytes;
  }

  #change(share: Share, bytes: number): void {
    share.bytes += bytes;
    this.#bytes += bytes;
  }

  async #wait({ waiting }: Share, bytes: number, patienceMs: number, signal: AbortSignal): Promise<boolean> {
    if (waiting.length >= this.#limits.maxWaiting) return false;
    const waiter = { bytes, turn: new WaitQueue() };
    waiting.push(waiter);
    const patience = new AbortController();
    const timer = setTimeout(() => patience.abort(), patienceMs);
    try {
      await waiter.turn.wait(AbortSignal.any([signal, patience.signal]));
      return true;
    } catch (error) {
      waiting.splice(waiting.indexOf(waiter), 1);
      // Whoever waits behind it may need less.
      this.#serveAll();
      if (patience.signal.aborted && !signal.aborted) return false;
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  #serveAll(): void {
    for (const [key, share] of [...this.#shares]) {
      let served = false;
      for (let [next] = share.waiting; next && this.#fits(share, next.bytes); [next] = share.waiting) {
        share.waiting.shift();
        this.#change(share, next.bytes);
        next.turn.resolveNext();
        served = true;
      }
      if (served || (share.bytes === 0 && share.waiting.length === 0)) this.#shares.delete(key);
      if (served) this.#shares.set(key, share);
    }
  }
}
