import type { Actor } from '../db/actor.ts';

export type { Actor };

/** Work that nobody asked for by hand: retention, sweeps. */
export const systemActor: Actor = { userId: null, email: null, impersonatedBy: null };
