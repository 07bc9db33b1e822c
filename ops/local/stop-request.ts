import { inheritedEnvironment } from '../../base/config/local.ts';

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * A request of the user to stop: Ctrl-C, SIGTERM, a closed terminal, or the end of the npm that ran the script. A second request ends this
 * process at once; its guard then ends the rest. Keeps the process alive until {@link StopRequest.forget}.
 */
export class StopRequest {
  readonly #controller = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #askedAt = 0;
  readonly #onSignal = () => this.#ask();

  constructor() {
    for (const signal of signals) process.on(signal, this.#onSignal);
    // A closed terminal makes writes fail.
    for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
    const startedByNpm = inheritedEnvironment().npm_lifecycle_event !== undefined;
    const parent = process.ppid;
    this.#timer = setInterval(() => {
      if (startedByNpm && process.ppid !== parent && !this.requested) this.#ask();
    }, 1000);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get requested(): boolean {
    return this.signal.aborted;
  }

  async wait(): Promise<undefined> {
    if (this.requested) return;
    await new Promise((resolve) => this.signal.addEventListener('abort', resolve, { once: true }));
  }

  forget(): void {
    clearInterval(this.#timer);
    for (const signal of signals) process.off(signal, this.#onSignal);
  }

  #ask(): void {
    const now = performance.now();
    // Both the terminal and npm send Ctrl-C to this process: that is one request.
    if (this.requested && now - this.#askedAt > 1000) process.exit(1);
    if (this.requested) return;
    this.#askedAt = now;
    this.#controller.abort(new Error('The start was ended.'));
  }
}
