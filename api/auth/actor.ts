import { AsyncLocalStorage } from 'node:async_hooks';
import type { Mail } from './mails.ts';
import type { Caller } from './session.ts';

/** What the adapter and the hooks of better-auth need to know of a request, which better-auth does not pass on. */
interface AuthRequest {
  actor?: Caller | undefined;
  /** The requested mails that are not stored yet. */
  mails?: Mail[];
  /** The user whom a change by a platform admin concerns. */
  concerned?: { id: string; email: string } | undefined;
  /** What counts the password that the request gives, until it turns out to be right. */
  guess?: string;
  /** The record of the first failed query. */
  noted?: { error?: unknown };
}

const current = new AsyncLocalStorage<AuthRequest>();

/** Runs work in which {@link currentRequest} also has these fields. */
export function withRequest<T>(fields: AuthRequest, work: () => T): T {
  return current.run({ ...current.getStore(), ...fields }, work);
}

/** The fields of the current request; empty outside of one. */
export function currentRequest(): AuthRequest {
  return current.getStore() ?? {};
}

/** Runs `work` as an actor: better-auth's writes are audited with it, and its hooks know the caller. */
export function runAsActor<T>(actor: Caller | undefined, work: () => T): T {
  return withRequest({ actor }, work);
}

/** The actor of the current work; undefined outside of {@link runAsActor}. */
export function currentActor(): Caller | undefined {
  return currentRequest().actor;
}
