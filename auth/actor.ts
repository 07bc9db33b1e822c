import { AsyncLocalStorage } from 'node:async_hooks';
import type { Actor } from '../db/actor.ts';

const current = new AsyncLocalStorage<Actor | undefined>();

/** Runs `work` so that whatever better-auth writes meanwhile is audited as done by `actor`. */
export function runAsActor<T>(actor: Actor | undefined, work: () => T): T {
  return current.run(actor, work);
}

export function currentActor(): Actor | undefined {
  return current.getStore();
}
