import { BytesByKey } from './bytes-by-key.ts';
import type { Release } from './fair-semaphore.ts';
import { RoomQueue } from './room-queue.ts';

export interface ByteBudgetLimits {
  /** What all keys may hold at once, and each of them. */
  totalBytes: number;
  bytesPerKey: number;
  /** How many callers of one key may wait. */
  maxWaiting: number;
}

/** Bytes that a caller holds. */
export interface HeldBytes {
  readonly bytes: number;
  /** Gives back all but so many bytes. */
  shrinkTo(bytes: number): void;
  /** Gives back all of them. A second call does nothing. */
  release: Release;
}

/** Bytes that are shared by keys. The keys are served in turns, and the callers of one key in the order in which they came. */
export class ByteBudget {
  readonly #limits: ByteBudgetLimits;
  readonly #held = new BytesByKey();
  readonly #waiting: RoomQueue<{ key: string; bytes: number }>;

  constructor(limits: ByteBudgetLimits) {
    this.#limits = limits;
    this.#waiting = new RoomQueue({
      maxWaiting: limits.maxWaiting,
      roomFor: ({ key, bytes }) => {
        if (this.isExhausted(key, bytes)) return 'key full';
        return this.bytes + bytes > limits.totalBytes ? 'all full' : 'free';
      },
      take: ({ key, bytes }) => this.#held.add(key, bytes),
    });
  }

  /** What is held now, in bytes. */
  get bytes(): number {
    return this.#held.total;
  }

  /** How many bytes are missing for the first caller who waits only for room in the total; 0 if nobody does. */
  get missingBytes(): number {
    const first = this.#waiting.findWaitingForAll();
    return first ? this.bytes + first.bytes - this.#limits.totalBytes : 0;
  }

  /** What a key holds now. */
  bytesOf(key: string): number {
    return this.#held.of(key);
  }

  /** Whether the key's own share has no room for so many bytes. */
  isExhausted(key: string, bytes: number): boolean {
    return this.bytesOf(key) + bytes > this.#limits.bytesPerKey;
  }

  /**
   * Waits until there is room for `bytes`, which are no more than one key may hold; undefined after `patienceMs`, or at once if too many of
   * the key wait already. Rejects with the signal's reason.
   */
  async acquireWithin(key: string, bytes: number, patienceMs: number, signal: AbortSignal): Promise<HeldBytes | undefined> {
    if (!(await this.#waiting.take(key, { key, bytes }, patienceMs, signal))) return undefined;
    let held = bytes;
    const shrinkTo = (left: number) => {
      if (left >= held) return;
      this.#held.add(key, left - held);
      held = left;
      this.#waiting.serve();
    };
    return {
      get bytes() {
        return held;
      },
      shrinkTo,
      release: () => shrinkTo(0),
    };
  }
}
