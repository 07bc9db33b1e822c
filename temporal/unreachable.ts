import { isGrpcServiceError } from '@temporalio/client';

/** UNAVAILABLE, DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED and CANCELLED of gRPC: Temporal is away, or takes nothing now. */
const unreachableCodes = new Set([14, 4, 8, 1]);

/** Whether a call failed because Temporal could not take it, and not because it refused it. */
export function isUnreachable(error: unknown): boolean {
  const grpc = error instanceof Error && error.cause !== undefined ? error.cause : error;
  return isGrpcServiceError(grpc) && unreachableCodes.has(grpc.code);
}
