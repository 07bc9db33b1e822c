import { setTimeout as sleep } from 'node:timers/promises';
import { AiServiceError } from './client-error.ts';

const leastWaitMs = 100;

interface Patience {
  /** The time until which the call is repeated, as `Date.now()`. */
  until: number;
  signal: AbortSignal;
  /** Reads the wait that a failure asks for, in milliseconds; by default that of a provider that limits its rate. */
  asked?: (error: AiServiceError) => number | undefined;
}

/** The wait that any failure asks for that may pass. */
export function anyWait({ retryable, retryAfterMs }: AiServiceError): number | undefined {
  return retryable ? retryAfterMs : undefined;
}

function waitOfLimit({ down, retryAfterMs }: AiServiceError): number | undefined {
  return down?.cause === 'limited' ? retryAfterMs : undefined;
}

/**
 * Calls the AI service, again after the wait that it asked for, if there is time: a rate limit costs no attempt. Other failures are not
 * repeated here. Throws what the call throws, or the signal's reason.
 */
export async function patiently<T>(call: () => Promise<T>, { until, signal, asked = waitOfLimit }: Patience): Promise<T> {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      const askedMs = error instanceof AiServiceError ? asked(error) : undefined;
      if (askedMs === undefined) throw error;
      const waitMs = Math.max(askedMs, leastWaitMs);
      if (Date.now() + waitMs >= until) throw error;
      await sleep(waitMs, undefined, { signal });
    }
  }
}
