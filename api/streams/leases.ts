import { randomUUID } from 'node:crypto';
import type { Db } from '../../db/connect.ts';
import { acquireStreamLease, releaseStreamLease, renewStreamLease } from '../../domain/stream-leases.ts';

/** The right to have one stream open. */
export interface StreamLease {
  /** Called at every recheck of the stream's caller. False if the lease is lost and the stream must end. */
  renew(): Promise<boolean>;
  release(): Promise<void>;
}

/** The leases of every user for their job streams. */
export interface StreamLeases {
  /** How many a user may hold. */
  perUser: number;
  /** Acquires a lease; undefined if the user holds as many as they may. */
  acquire(userId: string): Promise<StreamLease | undefined>;
}

export const streamsPerUser = 5;

/** Leases that only this process counts. */
export function createMemoryLeases(perUser = streamsPerUser): StreamLeases {
  const openByUser = new Map<string, number>();
  return {
    perUser,
    async acquire(userId) {
      const open = openByUser.get(userId) ?? 0;
      if (open >= perUser) return undefined;
      openByUser.set(userId, open + 1);
      return {
        renew: async () => true,
        async release() {
          const left = (openByUser.get(userId) ?? 1) - 1;
          if (left === 0) openByUser.delete(userId);
          else openByUser.set(userId, left);
        },
      };
    },
  };
}

/**
 * Leases that all processes on the database share, each renewed by its stream. Those of a process that dies expire
 * (docs/decisions/limits.md).
 */
export function createSharedLeases(db: Db, { perUser = streamsPerUser, recheckMs = 30_000 } = {}): StreamLeases {
  // Two rechecks may fail before the lease expires.
  const leaseSeconds = Math.max(10, (2.5 * recheckMs) / 1_000);
  return {
    perUser,
    async acquire(userId) {
      const lease = await acquireStreamLease(db, { userId, holder: randomUUID(), perUser, leaseSeconds });
      return lease && { renew: () => renewStreamLease(db, lease, leaseSeconds), release: () => releaseStreamLease(db, lease) };
    },
  };
}
