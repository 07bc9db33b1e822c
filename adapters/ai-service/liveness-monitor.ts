/** A call that is watched. */
interface Watched {
  since: number;
  patienceMs: number;
  away: AbortController;
}

interface PresenceWatch {
  /** Aborts when the service has been away for as long as the call is patient. */
  signal: AbortSignal;
  /** Ends the watch. */
  done(): void;
}

/** A call that is shorter needs no ping. */
const pingAfterMs = 1_000;
const tickMs = 250;
const pingMs = 2_000;

/**
 * Distinguishes a service that works for a long time from one that is gone silently. While a call takes long, a ping asks whether the
 * service still responds; one ping serves all calls.
 */
export class LivenessMonitor {
  readonly #ping: (signal: AbortSignal) => Promise<unknown>;
  readonly #watched = new Set<Watched>();
  #heardAt = 0;
  #pinging = false;
  #ticker: NodeJS.Timeout | undefined;

  /** `ping` resolves if the service responds at all. */
  constructor(ping: (signal: AbortSignal) => Promise<unknown>) {
    this.#ping = ping;
  }

  watch(patienceMs: number): PresenceWatch {
    const watched = { since: performance.now(), patienceMs, away: new AbortController() };
    this.#watched.add(watched);
    this.#ticker ??= setInterval(() => this.#tick(), tickMs).unref();
    return { signal: watched.away.signal, done: () => this.#unwatch(watched) };
  }

  #unwatch(watched: Watched): void {
    this.#watched.delete(watched);
    if (this.#watched.size > 0) return;
    clearInterval(this.#ticker);
    this.#ticker = undefined;
  }

  #tick(): void {
    const now = performance.now();
    let suspected = false;
    for (const { since, patienceMs, away } of this.#watched) {
      const silentMs = now - Math.max(since, this.#heardAt);
      if (silentMs > pingAfterMs) suspected = true;
      if (silentMs > patienceMs) away.abort(new Error(`The service has said nothing for ${patienceMs} ms.`));
    }
    if (suspected && !this.#pinging) void this.#ask();
  }

  async #ask(): Promise<void> {
    this.#pinging = true;
    try {
      await this.#ping(AbortSignal.timeout(pingMs));
      this.#heardAt = performance.now();
    } catch {
      // The next tick asks again.
    } finally {
      this.#pinging = false;
    }
  }
}
