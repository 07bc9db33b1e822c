import { AsyncLocalStorage } from 'node:async_hooks';
import type { Caller } from './session.ts';

const current = new AsyncLocalStorage<Caller | undefined>();

/** Runs `work`. What better-auth writes meanwhile is audited as done by `actor`, and its hooks know who calls. */
export function runAsActor<T>(actor: Caller | undefined, work: () => T): T {
  return current.run(actor, work);
}

/** The actor of the work that runs now; undefined outside of {@link runAsActor}. */
export function currentActor(): Caller | undefined {
  return current.getStore();
}
