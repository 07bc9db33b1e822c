import { CompiledQuery } from 'kysely';

/** Who does something, as the audit log records it. `userId` is null for the system itself. */
export interface Actor {
  userId: string | null;
  email: string | null;
  /** The platform admin behind an impersonated session. */
  impersonatedBy: string | null;
}

/**
 * Names the actor of the current transaction. Only the triggers on better-auth's tables read it (migration 0003), and it ends
 * with the transaction, so a pooled connection never carries it to somebody else's change.
 */
export function actorQuery(actor: Actor): CompiledQuery {
  return CompiledQuery.raw(`select set_config('sheaf.actor', $1, true)`, [JSON.stringify(actor)]);
}
