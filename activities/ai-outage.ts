import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { type AiClient, AiServiceError } from '../ai/client.ts';

/** How many calls in a row find the service unreachable before it counts as down, and how often it is asked then. */
const defaults = { threshold: 3, probeMs: 5_000 };

/**
 * A breaker over the AI service (`JOBS_HOLD_ON_OUTAGE`): once it has seen the service down, attempts wait before they claim
 * their job, so that an outage costs no attempts. It asks the service until that answers, and lets them go on.
 */
export class AiOutage {
  private readonly ai: AiClient;
  private readonly log: Logger;
  private readonly settings: typeof defaults;
  private failures = 0;
  private over: Promise<void> | undefined;

  constructor(ai: AiClient, log: Logger, settings: Partial<typeof defaults> = {}) {
    this.ai = ai;
    this.log = log;
    this.settings = { ...defaults, ...settings };
  }

  get isDown(): boolean {
    return this.over !== undefined;
  }

  /** The client through which the breaker sees every call. */
  observe(): AiClient {
    const { ai } = this;
    const watched = async <T>(call: Promise<T>): Promise<T> => {
      try {
        const answer = await call;
        this.failures = 0;
        return answer;
      } catch (error) {
        if (error instanceof AiServiceError && error.kind === 'unreachable') this.failed();
        else if (error instanceof AiServiceError) this.failures = 0;
        throw error;
      }
    };
    return {
      extract: (input) => watched(ai.extract(input)),
      summarize: (input) => watched(ai.summarize(input)),
      embed: (input) => watched(ai.embed(input)),
      embedFloats: (input) => watched(ai.embedFloats(input)),
      health: (input) => ai.health(input),
    };
  }

  private failed(): void {
    this.failures++;
    if (this.failures < this.settings.threshold || this.over) return;
    this.log.warn('the AI service is down; jobs wait for it');
    this.over = this.probe();
  }

  /** Waits until the service is not down. Rejects with the signal's reason. */
  async wait(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (!this.over) return;
    const aborted = Promise.withResolvers<never>();
    const abort = () => aborted.reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    await Promise.race([this.over, aborted.promise]).finally(() => signal.removeEventListener('abort', abort));
  }

  private async probe(): Promise<void> {
    for (;;) {
      await delay(this.settings.probeMs, undefined, { ref: false });
      const answers = await this.ai.health().then(
        () => true,
        () => false,
      );
      if (!answers) continue;
      this.log.info('the AI service answers again; jobs go on');
      this.failures = 0;
      this.over = undefined;
      return;
    }
  }
}
