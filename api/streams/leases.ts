import type { Db } from '../../db/connect.ts';
import { acquireStreamLease, releaseStreamLease, renewStreamLease } from '../../domain/stream-leases.ts';

/** The right to have one open stream. */
export interface StreamLease {
  /** Called at every recheck of the stream's caller. False if the lease is lost and the stream must end. */
  renew(): Promise<boolean>;
  release(): Promise<void>;
}

/** A connection that asks for a lease. */
interface LeaseRequest {
  userId: string;
  /** The id that the client gave to its stream, the same for each of its connections. */
  streamId: string | undefined;
  /** Called if a later connection of the same stream has taken the lease over in this process. */
  onLost(): void;
}

/** The leases of every user for their job streams. */
export interface StreamLeases {
  /** How many a user may hold. */
  perUser: number;
  /** Acquires a lease, or takes over that of the stream's earlier connection; undefined if the user holds the maximum. */
  acquire(request: LeaseRequest): Promise<StreamLease | undefined>;
}

const streamsPerUser = 5;

/**
 * Leases that all processes on the database share, each renewed by its stream. Those of a process that dies expire
 * (docs/decisions/limits.md).
 */
export function createLeases(db: Db, { perUser = streamsPerUser, recheckMs = 30_000 } = {}): StreamLeases {
  // Two rechecks may fail before the lease expires.
  const leaseSeconds = Math.max(10, (2.5 * recheckMs) / 1_000);
  const latestByStream = new Map<string, LeaseRequest>();
  return {
    perUser,
    async acquire(request) {
      const { userId, streamId } = request;
      const lease = await acquireStreamLease(db, { userId, streamId, perUser, leaseSeconds });
      if (!lease) return undefined;
      const key = `${userId}/${streamId ?? ''}`;
      // A connection in another process ends when it tries to renew the lease.
      if (streamId !== undefined) latestByStream.get(key)?.onLost();
      latestByStream.set(key, request);
      return {
        renew: () => renewStreamLease(db, lease, leaseSeconds),
        async release() {
          if (latestByStream.get(key) === request) latestByStream.delete(key);
          await releaseStreamLease(db, lease);
        },
      };
    },
  };
}
