import type { Caller } from '../auth/session.ts';
import type { Actor } from '../domain/audit.ts';

export type { Caller };

/** The caller as the audit log records it. */
export function actorOf(caller: Caller): Actor {
  return { userId: caller.userId, email: caller.email, impersonatedBy: caller.impersonatedBy };
}
