import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { type AiClient, AiServiceError } from '../ai/client.ts';
import { untilAborted } from '../concurrency/until-aborted.ts';

/** `threshold`: the number of consecutive unreachable calls that opens the circuit; `probeMs`: the time between probes. */
const defaults = { threshold: 3, probeMs: 5_000 };

/**
 * A circuit breaker for the AI service (`JOBS_HOLD_ON_OUTAGE`). While it is not closed, attempts wait before they claim their job, so that
 * an outage costs no attempts; calls of running attempts still go through. An open circuit waits for its next probe, and is half-open
 * during it.
 */
export class CircuitBreaker {
  private readonly ai: AiClient;
  private readonly log: Logger;
  private readonly settings: typeof defaults;
  private failures = 0;
  private current: 'closed' | 'open' | 'half-open' = 'closed';
  private recovery: Promise<void> | undefined;
  /** The async context for the recovery, which does not belong to the job whose call began it. */
  private readonly outsideOfJobs = AsyncLocalStorage.snapshot();

  constructor(ai: AiClient, log: Logger, settings: Partial<typeof defaults> = {}) {
    this.ai = ai;
    this.log = log;
    this.settings = { ...defaults, ...settings };
  }

  get state(): 'closed' | 'open' | 'half-open' {
    return this.current;
  }

  /** The client whose calls the breaker counts. */
  client(): AiClient {
    const { ai } = this;
    return {
      extract: (input) => this.count(ai.extract(input)),
      summarize: (input) => this.count(ai.summarize(input)),
      embed: (input) => this.count(ai.embed(input)),
      embedFloats: (input) => this.count(ai.embedFloats(input)),
      answer: (input) => this.count(ai.answer(input)),
      fields: (input) => this.count(ai.fields(input)),
      rerank: (input) => this.count(ai.rerank(input)),
      health: (input) => this.countFailure(ai.health(input)),
    };
  }

  /** Waits until the circuit is closed. Rejects with the signal's reason. */
  async untilClosed(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.recovery) await untilAborted(this.recovery, signal);
  }

  private async count<T>(call: Promise<T>): Promise<T> {
    try {
      const result = await this.countFailure(call);
      this.failures = 0;
      return result;
    } catch (error) {
      if (error instanceof AiServiceError && !isAway(error)) this.failures = 0;
      throw error;
    }
  }

  /** Counts failures only: a successful health check does not end an outage, since other calls may still fail. */
  private async countFailure<T>(call: Promise<T>): Promise<T> {
    try {
      return await call;
    } catch (error) {
      if (isAway(error)) this.fail();
      throw error;
    }
  }

  private fail(): void {
    this.failures++;
    if (this.failures < this.settings.threshold || this.recovery) return;
    this.log.warn('the AI service is down; jobs wait for it');
    this.recovery = this.outsideOfJobs(() => this.recover());
  }

  private async recover(): Promise<void> {
    do {
      this.current = 'open';
      await sleep(this.settings.probeMs, undefined, { ref: false });
      this.current = 'half-open';
    } while (!(await this.probe()));
    this.log.info('the AI service is reachable again; jobs continue');
    this.current = 'closed';
    this.failures = 0;
    this.recovery = undefined;
  }

  private probe(): Promise<boolean> {
    return this.ai.health().then(
      () => true,
      () => false,
    );
  }
}

function isAway(error: unknown): boolean {
  return error instanceof AiServiceError && error.kind === 'unreachable';
}
