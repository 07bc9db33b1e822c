import { readFileSync } from 'node:fs';

/** Twice as long as the work: with a rest as long as the work, others still waited (docs/decisions/priorities.md). */
const restMs = 60;
const workMs = 30;
/** Others wait if this process waits for a processor for more than this part of the time. */
const waitedShare = 0.005;
/** How much the last moment counts beside those before, so that half a second or so decides. */
const lastCounts = 0.1;

/** For how long the main thread of this process was ready to run and had no processor, in milliseconds; undefined if the kernel does not say. */
export function readProcessorWaitMs(): number | undefined {
  try {
    return Number(readFileSync('/proc/self/schedstat', 'latin1').split(' ')[1]) / 1e6;
  } catch {
    return undefined;
  }
}

/**
 * Says when work that can be stopped should rest for a moment, while other programs wait for a processor (docs/decisions/priorities.md). That
 * they wait is seen by this process's own waits.
 */
export class Rests {
  readonly #onChange: (isResting: boolean) => void;
  readonly #readWaitMs: () => number | undefined;
  #isResting = false;
  #timer: NodeJS.Timeout | undefined;
  #last: { waitedMs: number; atMs: number } | undefined;
  #share = 0;

  constructor(onChange: (isResting: boolean) => void, readWaitMs: () => number | undefined) {
    this.#onChange = onChange;
    this.#readWaitMs = readWaitMs;
  }

  get isResting(): boolean {
    return this.#isResting;
  }

  /** There is work. */
  begin(): void {
    if (this.#timer !== undefined || this.#readWaitMs() === undefined) return;
    // What was before says nothing about now.
    this.#last = undefined;
    this.#share = 0;
    this.#work();
  }

  /** There is none any more. */
  end(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#change(false);
  }

  #work(): void {
    this.#timer = setTimeout(() => (this.#doOthersWait() ? this.#rest() : this.#work()), workMs).unref();
    this.#change(false);
  }

  #rest(): void {
    this.#timer = setTimeout(() => this.#work(), restMs).unref();
    this.#change(true);
  }

  #change(isResting: boolean): void {
    if (this.#isResting === isResting) return;
    this.#isResting = isResting;
    this.#onChange(isResting);
  }

  #doOthersWait(): boolean {
    const [waitedMs, last] = [this.#readWaitMs(), this.#last];
    if (waitedMs === undefined) return false;
    this.#last = { waitedMs, atMs: performance.now() };
    if (last) {
      const lastShare = (waitedMs - last.waitedMs) / (this.#last.atMs - last.atMs);
      this.#share += (lastShare - this.#share) * lastCounts;
    }
    return this.#share > waitedShare;
  }
}
