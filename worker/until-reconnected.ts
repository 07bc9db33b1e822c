import { pause } from '../base/concurrency/pause.ts';

interface ReconnectOptions {
  /** Whether the server responds over a connection that has been open for a while. */
  responds(): Promise<boolean>;
  /** Whether a new connection can be made. */
  canConnect(): Promise<boolean>;
  /** What is put right once a minute while the server responds. Must end soon, since silence is not seen meanwhile, and must not throw. */
  tend(): Promise<void>;
}

const checkMs = 5_000;
const tendMs = 60_000;
const retryMs = 1_000;
/** Connections survive a shorter silence. After a longer one the server has dropped their pending calls. */
const longSilenceMs = 8_000;

/**
 * Waits until the server can be reached again after it was silent for long, or the signal aborts. Connections that were open then may be
 * dead without having ended.
 */
export async function untilReconnected({ responds, canConnect, tend }: ReconnectOptions, signal: AbortSignal): Promise<void> {
  let tendedAt = performance.now();
  while (!signal.aborted) {
    await pause(checkMs, signal);
    const askedAt = performance.now();
    if (signal.aborted) return;
    if (await responds()) {
      if (askedAt - tendedAt < tendMs) continue;
      tendedAt = askedAt;
      await tend();
      continue;
    }
    while (!signal.aborted && !(await canConnect())) await pause(retryMs, signal);
    if (performance.now() - askedAt > longSilenceMs) return;
  }
}
