import type { Actor } from '../domain/actor.ts';

/** Who makes a request, from the session behind its cookie or bearer token. */
export interface Caller {
  userId: string;
  email: string;
  name: string;
  image: string | null;
  /** `admin` marks a platform admin. */
  role: string | null;
  createdAt: Date;
  sessionId: string;
  impersonatedBy: string | null;
}

/** The caller as the audit log records it. */
export function actorOf(caller: Caller): Actor {
  return { userId: caller.userId, email: caller.email, impersonatedBy: caller.impersonatedBy };
}
