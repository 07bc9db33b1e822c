import { setTimeout as delay } from 'node:timers/promises';
import type { AiMode } from '../ai-proxy.ts';
import type { Fault } from '../fault.ts';

function misbehaves(name: string, mode: AiMode, short: number): Fault {
  return {
    name,
    runs: { full: 1, short },
    async inject({ service: { ai }, short: isShort }) {
      ai.mode = mode;
      await delay(isShort ? 2_000 : 6_000);
      ai.mode = 'well';
      return undefined;
    },
  };
}

/** Every call takes longer than an attempt may. */
export const aiSlow = misbehaves('ai-slow', 'slow', 0);
export const aiErrors = misbehaves('ai-500', 'error', 0);
/** A final refusal: the jobs fail at once, and are refunded. */
export const aiTooLarge = misbehaves('ai-413', 'too-large', 0);
/** An answer with status 200 that is not what the protocol says. */
export const aiUnusable = misbehaves('ai-unusable', 'unusable', 1);
