import { WaitQueue } from './wait-queue.ts';

/**
 * Whether there is room for what a caller asks for: `free`; `own full` if only this caller has to wait; `key full` if all callers behind it
 * in its key have to wait, too; `all full` if all callers have to.
 */
export type Room = 'free' | 'own full' | 'key full' | 'all full';

export interface RoomQueueOptions<T> {
  /** How many callers of one key may wait. */
  maxWaiting: number;
  /** Whether there is room for a caller now. */
  roomFor(asked: T): Room;
  /** Takes it. Called only if there is room. */
  take(asked: T): void;
}

interface Waiter<T> {
  asked: T;
  turn: WaitQueue;
}

/** Callers that wait for room, each under a key. The keys are served in turns, and the callers of one key in the order in which they came. */
export class RoomQueue<T> {
  readonly #options: RoomQueueOptions<T>;
  /** Only keys for which somebody waits; the one that is served next comes first. */
  readonly #waiting = new Map<string, Set<Waiter<T>>>();

  constructor(options: RoomQueueOptions<T>) {
    this.#options = options;
  }

  /** How many keys somebody waits for. */
  get keys(): number {
    return this.#waiting.size;
  }

  /**
   * Takes what is asked for, as soon as there is room. Returns false after `patienceMs`, or at once if too many of the key wait already.
   * Rejects with the signal's reason.
   */
  async take(key: string, asked: T, patienceMs: number, signal: AbortSignal): Promise<boolean> {
    signal.throwIfAborted();
    const waiting = this.#waiting.get(key) ?? new Set();
    if (waiting.size === 0 && this.#options.roomFor(asked) === 'free') {
      this.#options.take(asked);
      return true;
    }
    if (waiting.size >= this.#options.maxWaiting) return false;
    const waiter = { asked, turn: new WaitQueue() };
    this.#waiting.set(key, waiting.add(waiter));
    const patience = new AbortController();
    const timer = setTimeout(() => patience.abort(), patienceMs);
    try {
      const turn = waiter.turn.wait(AbortSignal.any([signal, patience.signal]));
      // Those before it may wait for something else than this one.
      this.#serveKey(key);
      await turn;
      return true;
    } catch (error) {
      waiting.delete(waiter);
      // The next one may need less.
      this.#serveKey(key);
      if (patience.signal.aborted && !signal.aborted) return false;
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Serves everybody there is room for. Call it whenever room was given back. */
  serve(): void {
    for (const key of [...this.#waiting.keys()]) this.#serveKey(key);
  }

  /** What the first caller asks for who waits only for room that all share. */
  findWaitingForAll(): T | undefined {
    for (const waiting of this.#waiting.values())
      for (const { asked } of waiting) {
        const room = this.#options.roomFor(asked);
        if (room === 'all full') return asked;
        if (room !== 'own full') break;
      }
    return undefined;
  }

  #serveKey(key: string): void {
    const waiting = this.#waiting.get(key);
    if (!waiting) return;
    let served = false;
    for (const waiter of [...waiting]) {
      const room = this.#options.roomFor(waiter.asked);
      if (room === 'own full') continue;
      if (room !== 'free') break;
      waiting.delete(waiter);
      // One that has left in the same moment takes nothing.
      if (!waiter.turn.resolveNext()) continue;
      this.#options.take(waiter.asked);
      served = true;
    }
    if (served || waiting.size === 0) this.#waiting.delete(key);
    if (served && waiting.size > 0) this.#waiting.set(key, waiting);
  }
}
