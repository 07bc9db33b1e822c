import { setTimeout as delay } from 'node:timers/promises';

/** Watches for a while that a condition holds, and throws as soon as it does not: what must not happen takes time to see. */
export async function staysTrue(condition: () => boolean | Promise<boolean>, ms: number): Promise<void> {
  const endsAt = performance.now() + ms;
  do {
    if (!(await condition())) throw new Error(`This did not stay true for ${ms} ms: ${condition}`);
    await delay(20);
  } while (performance.now() < endsAt);
}
