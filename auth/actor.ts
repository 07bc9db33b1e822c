import { AsyncLocalStorage } from 'node:async_hooks';
import type { AuditActor } from '../db/actor.ts';

const current = new AsyncLocalStorage<AuditActor | undefined>();

/** Runs `work` so that whatever better-auth writes meanwhile is audited as done by `actor`. */
export function runAsActor<T>(actor: AuditActor | undefined, work: () => T): T {
  return current.run(actor, work);
}

export function currentActor(): AuditActor | undefined {
  return current.getStore();
}
