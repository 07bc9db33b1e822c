/** A counting semaphore: the exact limit of the attempts that run at once in a process. */
export class Permits {
  readonly limit: number;
  private held = 0;
  private readonly waiting: Array<() => void> = [];

  constructor(limit: number) {
    this.limit = limit;
  }

  /** Waits for a permit, in the order of asking, and answers what gives it back. Rejects with the signal's reason. */
  async acquire(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.held < this.limit) this.held++;
    else await this.wait(signal);
    let released = false;
    return () => {
      if (released) return;
      released = true;
      const next = this.waiting.shift();
      if (next) next();
      else this.held--;
    };
  }

  private wait(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const granted = () => {
        signal.removeEventListener('abort', aborted);
        resolve();
      };
      const aborted = () => {
        this.waiting.splice(this.waiting.indexOf(granted), 1);
        reject(signal.reason);
      };
      signal.addEventListener('abort', aborted, { once: true });
      this.waiting.push(granted);
    });
  }
}
