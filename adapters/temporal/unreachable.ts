import { isGrpcServiceError } from '@temporalio/client';

/** UNAVAILABLE, DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED and CANCELLED of gRPC: Temporal is unreachable, or takes nothing now. */
const unreachableCodes = new Set([14, 4, 8, 1]);

/** Whether a call failed because Temporal was unavailable, not because it refused the call. */
export function isUnreachable(error: unknown): boolean {
  const grpc = grpcErrorOf(error);
  return grpc !== undefined && unreachableCodes.has(grpc.code);
}

/** The gRPC error inside the client's own error; undefined if it is another error. */
export function grpcErrorOf(error: unknown) {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  return isGrpcServiceError(cause) ? cause : undefined;
}
