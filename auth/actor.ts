import { AsyncLocalStorage } from 'node:async_hooks';
import type { Mail } from './mails.ts';
import type { Caller } from './session.ts';

/** What the adapter and the hooks of better-auth have to know of a request, and are not told by better-auth. */
interface AuthRequest {
  actor?: Caller | undefined;
  /** The mails that it has asked for and that are not stored yet. */
  mails?: Mail[];
  /** Where the first failure of a query is noted. */
  noted?: { error?: unknown };
}

const current = new AsyncLocalStorage<AuthRequest>();

/** Runs work in which {@link currentRequest} has these fields, beside those that it has. */
export function withRequest<T>(fields: AuthRequest, work: () => T): T {
  return current.run({ ...current.getStore(), ...fields }, work);
}

/** What is known of the request that is under way; empty outside of one. */
export function currentRequest(): AuthRequest {
  return current.getStore() ?? {};
}

/** Runs `work`. What better-auth writes meanwhile is audited as done by `actor`, and its hooks know who calls. */
export function runAsActor<T>(actor: Caller | undefined, work: () => T): T {
  return withRequest({ actor }, work);
}

/** The actor of the work that runs now; undefined outside of {@link runAsActor}. */
export function currentActor(): Caller | undefined {
  return currentRequest().actor;
}
