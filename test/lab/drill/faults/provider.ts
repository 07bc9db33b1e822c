import type { Refusal } from '../ai-proxy.ts';
import type { OutageReport } from '../fault.ts';

/** What a limit asks callers to wait. */
const retryAfterSeconds = 0.2;

const limited: Refusal = {
  status: 502,
  headers: { 'retry-after': String(retryAfterSeconds) },
  body: { error: { code: 'remote_failed', message: 'drill', provider: { role: 'embed', state: 'limited' } } },
};

/** A provider that is down at first. Once it is back it answers `perSecond` calls a second, and refuses every third one. */
export class Provider {
  readonly #perSecond: number;
  #isDown = true;
  #calls = 0;
  #refused = 0;
  #atOnce = 0;
  #mostAtOnce = 0;
  /** When calls that were answered came. */
  readonly #answeredAt: number[] = [];

  constructor({ perSecond }: { perSecond: number }) {
    this.#perSecond = perSecond;
  }

  /** Returns the refusal of a call, or undefined if it is answered. */
  answer(ended: Promise<unknown>, away: Refusal): Refusal | undefined {
    this.#calls++;
    this.#mostAtOnce = Math.max(this.#mostAtOnce, ++this.#atOnce);
    void ended.then(() => this.#atOnce--);
    if (this.#isDown) return away;
    const now = performance.now();
    const [oldest = Number.NEGATIVE_INFINITY] = this.#answeredAt.slice(-this.#perSecond);
    const isFull = this.#answeredAt.length >= this.#perSecond && now - oldest < 1_000;
    if (isFull || this.#calls % 3 === 0) {
      this.#refused++;
      return limited;
    }
    this.#answeredAt.push(now);
    return undefined;
  }

  /** Ends the outage. Returns how many calls came in it. */
  comeBack(): number {
    const calls = this.#calls;
    this.#isDown = false;
    this.#mostAtOnce = 0;
    return calls;
  }

  /** What it has seen since it is back. The use of its limit counts without the first and the last second's worth of calls. */
  measure(): Pick<OutageReport, 'mostAtOnce' | 'refused' | 'ofLimit'> {
    const steady = this.#answeredAt.slice(this.#perSecond, -this.#perSecond);
    const seconds = ((steady.at(-1) ?? 0) - (steady[0] ?? 0)) / 1_000;
    return { mostAtOnce: this.#mostAtOnce, refused: this.#refused, ofLimit: (steady.length - 1) / seconds / this.#perSecond };
  }
}
