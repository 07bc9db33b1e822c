import { randomUUID } from 'node:crypto';
import type { Db } from '../db/connect.ts';
import { keepPlace } from '../domain/streams/keep-place.ts';
import { leavePlace } from '../domain/streams/leave-place.ts';
import { takePlace } from '../domain/streams/take-place.ts';

/** A place for one stream. */
export interface StreamPlace {
  /** Called at every turn of the stream's authorization. False where the place is lost, and the stream must end. */
  keep(): Promise<boolean>;
  leave(): Promise<void>;
}

/** The places of every user for their job streams (spec §6). */
export interface StreamPlaces {
  /** How many a user has. */
  perUser: number;
  /** Takes a place; undefined where the user holds as many streams as there are places. */
  take(userId: string): Promise<StreamPlace | undefined>;
}

export const placesPerUser = 5;

/** Places that this process counts alone. */
export function createMemoryPlaces(perUser = placesPerUser): StreamPlaces {
  const openByUser = new Map<string, number>();
  return {
    perUser,
    async take(userId) {
      const open = openByUser.get(userId) ?? 0;
      if (open >= perUser) return undefined;
      openByUser.set(userId, open + 1);
      return {
        keep: async () => true,
        async leave() {
          const left = (openByUser.get(userId) ?? 1) - 1;
          if (left === 0) openByUser.delete(userId);
          else openByUser.set(userId, left);
        },
      };
    },
  };
}

/**
 * Places that every process on the database shares, each held by a lease that its stream renews. A process that dies leaves its
 * leases to end by themselves (docs/decisions/limits.md).
 */
export function createSharedPlaces(db: Db, { perUser = placesPerUser, recheckMs = 30_000 } = {}): StreamPlaces {
  // Two turns of a stream's authorization may fail before its place is free for another.
  const leaseSeconds = Math.max(10, (2.5 * recheckMs) / 1_000);
  return {
    perUser,
    async take(userId) {
      const held = await takePlace(db, { userId, holder: randomUUID(), places: perUser, leaseSeconds });
      return held && { keep: () => keepPlace(db, held, leaseSeconds), leave: () => leavePlace(db, held) };
    },
  };
}
