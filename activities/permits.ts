/** A counting semaphore: the exact limit of the attempts that run at once in a process. */
export class Permits {
  readonly limit: number;
  private held = 0;
  private readonly waiting: Array<() => void> = [];

  constructor(limit: number) {
    this.limit = limit;
  }

  /**
   * Waits for a permit, in the order of asking, and answers what gives it back; undefined where none was free within
   * `patienceMs`. Rejects with the signal's reason.
   */
  async acquire(signal: AbortSignal, patienceMs: number): Promise<(() => void) | undefined> {
    signal.throwIfAborted();
    if (this.held < this.limit) this.held++;
    else if (!(await this.wait(signal, patienceMs))) return undefined;
    let released = false;
    return () => {
      if (released) return;
      released = true;
      const next = this.waiting.shift();
      if (next) next();
      else this.held--;
    };
  }

  private wait(signal: AbortSignal, patienceMs: number): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const stopWaiting = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', aborted);
        const place = this.waiting.indexOf(granted);
        if (place >= 0) this.waiting.splice(place, 1);
      };
      const granted = () => {
        stopWaiting();
        resolve(true);
      };
      const aborted = () => {
        stopWaiting();
        reject(signal.reason);
      };
      const timer = setTimeout(() => {
        stopWaiting();
        resolve(false);
      }, patienceMs);
      signal.addEventListener('abort', aborted, { once: true });
      this.waiting.push(granted);
    });
  }
}
