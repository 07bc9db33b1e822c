/** Who does something, as the audit log records it. `userId` is null for the system itself. */
export interface Actor {
  userId: string | null;
  email: string | null;
  /** The platform admin behind an impersonated session. */
  impersonatedBy: string | null;
}

/** Work that nobody asked for by hand: retention, sweeps. */
export const systemActor: Actor = { userId: null, email: null, impersonatedBy: null };
