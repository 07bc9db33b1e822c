import type { Logger } from 'pino';
import { ApiError } from '../../contract/api-error.ts';
import type { Caller, StreamMembership } from '../caller.ts';
import type { JobStream } from './job-stream.ts';
import type { StreamLease } from './leases.ts';

export type FindMembership = (caller: Caller, organizationId: string) => Promise<StreamMembership>;

/**
 * Authorizes the caller of an open stream again, at once and then every `everyMs`, and renews the stream's lease. Ends the stream if the
 * session has ended (UNAUTHORIZED), if the membership ended or its role changed (FORBIDDEN), or if the lease is lost. Returns the function
 * that stops this.
 */
export function reauthorize(
  stream: JobStream,
  lease: StreamLease,
  { findMembership, everyMs, log }: { findMembership: FindMembership; everyMs: number; log: Logger },
): () => void {
  const { caller, organizationId } = stream.request;
  let role: string | null | undefined;
  const recheck = async () => {
    try {
      const membership = await findMembership(caller, organizationId);
      if (!membership.signedIn) stream.end(new ApiError('UNAUTHORIZED'));
      else if (membership.role === null || (role !== undefined && membership.role !== role)) stream.end(new ApiError('FORBIDDEN'));
      role = membership.role;
      if (!(await lease.renew())) stream.end();
    } catch (error) {
      log.warn({ err: error }, 'a stream could not be authorized again; the next recheck tries once more');
    }
  };
  void recheck();
  const interval = setInterval(() => void recheck(), everyMs);
  interval.unref();
  return () => clearInterval(interval);
}
