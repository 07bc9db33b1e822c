import { SheafError } from './errors.ts';
import type { Repetition } from './operations.ts';
import { longestMs } from './retry-after.ts';

/** How often and after which waits a call is retried. Times are in milliseconds. */
export interface RetryOptions {
  /** The total number of tries; 1 for no retries. */
  attempts: number;
  /** The wait after the first failure; it doubles with each further one. Half of it is random. */
  baseDelayMs: number;
  /** The maximum of the doubling wait. */
  maxDelayMs: number;
  /** The maximum `Retry-After` to wait for; a longer one rejects the call at once. */
  maxRetryAfterMs: number;
  /** How many consecutive reconnections of a stream may fail before it gives up. */
  reconnects: number;
  /** How long a stream may be silent before its connection counts as dead. The service sends a keep-alive every 15 seconds. */
  maxSilenceMs: number;
  /** Waits before the next try of a call that failed. What it rejects with, the call rejects with. */
  wait: (delayMs: number, failed: { error: unknown; signal: AbortSignal | undefined }) => Promise<void>;
}

export const defaultRetries: RetryOptions = {
  attempts: 4,
  baseDelayMs: 250,
  maxDelayMs: 8_000,
  maxRetryAfterMs: 60_000,
  reconnects: 30,
  maxSilenceMs: 45_000,
  wait: (delayMs, { signal }) => sleep(delayMs, signal),
};

/** A bucket, which has no codes of its own here, was not sent enough in time, still works at an earlier try, or failed inside. */
const passingUploadCodes = new Set(['HTTP_408', 'RequestTimeout', 'HTTP_409', 'HTTP_500']);
const gatewayStatuses = new Set([502, 503, 504]);

/** Some of the options. One that is `undefined` counts as absent. */
export type SomeRetryOptions = { [K in keyof RetryOptions]?: RetryOptions[K] | undefined };

/** Completes the options that a caller gave with the defaults. */
export function toRetries(given: SomeRetryOptions = {}): RetryOptions {
  const known = Object.entries(given).filter(([, value]) => value !== undefined);
  return { ...defaultRetries, ...Object.fromEntries(known) };
}

/** A signal that aborts once a try has taken too long, or with the caller's own. */
export function withDeadline(timeoutMs: number, signal: AbortSignal | undefined): AbortSignal {
  const deadline = AbortSignal.timeout(Math.min(timeoutMs, longestMs));
  return signal ? AbortSignal.any([signal, deadline]) : deadline;
}

interface Retried {
  retries: RetryOptions;
  repetition: Repetition;
  signal: AbortSignal | undefined;
}

/** Repeats a call until it succeeds, fails permanently, or there are no tries left. Rejects with the last error. */
export async function withRetries<T>({ retries, repetition, signal }: Retried, attempt: (tries: number) => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    signal?.throwIfAborted();
    try {
      return await attempt(tries);
    } catch (error) {
      signal?.throwIfAborted();
      if (tries >= retries.attempts || !mayRepeat(error, repetition)) throw error;
      const delayMs = delayBefore(error, tries, retries);
      if (delayMs === undefined) throw error;
      await retries.wait(delayMs, { error, signal });
    }
  }
}

/** Whether a call that failed so may be made again. */
export function mayRepeat(error: unknown, repetition: Repetition): boolean {
  if (!(error instanceof SheafError)) return false;
  if (error.status === 429) return true;
  if (repetition === 'once') return false;
  if (error.status === 503 && error.defined) return true;
  if (repetition === 'repeatable' && passingUploadCodes.has(error.code)) return true;
  return repetition !== 'charged' && (error.is('NETWORK') || error.is('TIMEOUT') || gatewayStatuses.has(error.status));
}

/** How long to wait before the next try; undefined if the service asks for more than `maxRetryAfterMs`. */
export function delayBefore(error: unknown, tries: number, retries: RetryOptions): number | undefined {
  const askedMs = error instanceof SheafError ? error.retryAfterMs : undefined;
  if (askedMs === undefined) return backoff(tries, retries);
  // Jitter, so that clients that were refused together do not retry together.
  return askedMs > retries.maxRetryAfterMs ? undefined : askedMs + Math.random() * retries.baseDelayMs;
}

export function backoff(tries: number, { baseDelayMs, maxDelayMs }: RetryOptions): number {
  const fullMs = Math.min(maxDelayMs, baseDelayMs * 2 ** (tries - 1));
  return fullMs / 2 + (Math.random() * fullMs) / 2;
}

/** Waits; rejects with the signal's reason if it aborts. */
export async function sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(
      () => {
        signal?.removeEventListener('abort', abort);
        resolve();
      },
      Math.min(delayMs, longestMs),
    );
    signal?.addEventListener('abort', abort, { once: true });
  });
}
