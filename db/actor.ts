import { CompiledQuery } from 'kysely';

/** The actor of a change, as the audit log records it. `userId` is null for the system itself. */
export interface Actor {
  userId: string | null;
  email: string | null;
  /** The platform admin behind an impersonated session. */
  impersonatedBy: string | null;
  /** `admin` marks a platform admin, whose changes of users and sessions are audited. */
  role?: string | null;
}

/**
 * Names the actor of the current transaction, for the triggers on better-auth's tables. The setting ends with the transaction, so a pooled
 * connection does not carry it over to another actor.
 */
export function actorQuery({ userId, email, impersonatedBy, role }: Actor): CompiledQuery {
  return CompiledQuery.raw(`select set_config('sheaf.actor', $1, true)`, [JSON.stringify({ userId, email, impersonatedBy, role })]);
}
