/** Calls back after some time, in which pauses do not count. */
export class TaskTimer {
  readonly #onEnd: () => void;
  #leftMs: number;
  #startedAt = performance.now();
  #timer: NodeJS.Timeout | undefined;

  constructor(ms: number, onEnd: () => void) {
    this.#leftMs = ms;
    this.#onEnd = onEnd;
    this.resume();
  }

  pause(): void {
    if (this.#timer === undefined) return;
    this.clear();
    this.#leftMs -= performance.now() - this.#startedAt;
  }

  resume(): void {
    this.#startedAt = performance.now();
    this.#timer ??= setTimeout(this.#onEnd, Math.max(0, this.#leftMs));
  }

  clear(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
