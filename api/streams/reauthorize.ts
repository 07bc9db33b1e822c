import type { Logger } from 'pino';
import { ApiError } from '../../contract/api-error.ts';
import type { Caller, StreamMembership } from '../caller.ts';
import type { JobStream } from './job-stream.ts';
import type { StreamLease } from './leases.ts';

export type FindMembership = (
  caller: Caller,
  place: { organizationId: string; workspaceId: string | undefined },
) => Promise<StreamMembership>;

/** How the caller of a stream is authorized again while it is open. */
interface Reauthorization {
  /** Authorizes again unless that was done within the last `maxAgeMs`. Throws if the database does not respond. */
  refresh(maxAgeMs: number): Promise<void>;
  stop(): void;
}

/**
 * Authorizes the caller of an open stream again, at once and then every `everyMs`, and renews the stream's lease. Ends the stream if the
 * session or the key has ended (UNAUTHORIZED), if the membership ended or its role changed (FORBIDDEN), or if the lease is lost.
 */
export function reauthorize(
  stream: JobStream,
  lease: StreamLease,
  { findMembership, everyMs, log }: { findMembership: FindMembership; everyMs: number; log: Logger },
): Reauthorization {
  const { caller, organizationId, workspaceId } = stream.request;
  let role: string | null | undefined;
  let checkedAt = -Infinity;
  const check = async () => {
    const startedAt = performance.now();
    const membership = await findMembership(caller, { organizationId, workspaceId });
    checkedAt = startedAt;
    if (!membership.signedIn) stream.end(new ApiError('UNAUTHORIZED'));
    else if (membership.role === null || (role !== undefined && membership.role !== role)) stream.end(new ApiError('FORBIDDEN'));
    role = membership.role;
  };
  const whileOpen = (work: () => Promise<void>) =>
    work().catch((err: unknown) => log.warn({ err }, 'a stream could not be authorized again; the next recheck tries once more'));
  const recheck = () =>
    whileOpen(async () => {
      await check();
      if (!(await lease.renew())) stream.end();
    });
  void recheck();
  const interval = setInterval(() => void recheck(), everyMs);
  interval.unref();
  return {
    refresh: async (maxAgeMs) => {
      if (performance.now() - checkedAt > maxAgeMs) await check();
    },
    stop: () => clearInterval(interval),
  };
}
