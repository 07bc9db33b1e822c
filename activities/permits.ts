/** A counting semaphore: the exact limit of the attempts that run at once in a process. */
export class Permits {
  readonly limit: number;
  private held = 0;
  private closed = false;
  private readonly waiting: Array<{ grant(): void; refuse(): void }> = [];

  constructor(limit: number) {
    this.limit = limit;
  }

  /**
   * Waits for a permit, in the order of asking, and answers what gives it back; undefined where none was free within
   * `patienceMs`, or none is given any more. Rejects with the signal's reason.
   */
  async acquire(signal: AbortSignal, patienceMs: number): Promise<(() => void) | undefined> {
    signal.throwIfAborted();
    if (this.closed) return undefined;
    if (this.held < this.limit) this.held++;
    else if (!(await this.wait(signal, patienceMs))) return undefined;
    let released = false;
    return () => {
      if (released) return;
      released = true;
      const next = this.waiting.shift();
      if (next) next.grant();
      else this.held--;
    };
  }

  /** Gives no permit from now on: a process that stops begins nothing that it would have to break off. */
  close(): void {
    this.closed = true;
    for (const waiter of [...this.waiting]) waiter.refuse();
  }

  private wait(signal: AbortSignal, patienceMs: number): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const stopWaiting = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', aborted);
        const place = this.waiting.indexOf(waiter);
        if (place >= 0) this.waiting.splice(place, 1);
      };
      const answer = (granted: boolean) => {
        stopWaiting();
        resolve(granted);
      };
      const aborted = () => {
        stopWaiting();
        reject(signal.reason);
      };
      const waiter = { grant: () => answer(true), refuse: () => answer(false) };
      const timer = setTimeout(waiter.refuse, patienceMs);
      signal.addEventListener('abort', aborted, { once: true });
      this.waiting.push(waiter);
    });
  }
}
