import { isGrpcServiceError } from '@temporalio/client';
import { type OpsContext, OpsError } from './command.ts';

const deadlineMs = 5_000;
/** UNAVAILABLE and DEADLINE_EXCEEDED of gRPC. */
const unreachableCodes = new Set([14, 4]);

/** Asks Temporal something, for 5 s at the most. Throws OpsError where it cannot be reached. */
export async function askTemporal<T>({ temporal, config }: OpsContext, question: () => Promise<T>): Promise<T> {
  try {
    return await temporal.withDeadline(Date.now() + deadlineMs, question);
  } catch (error) {
    if (isUnreachable(error)) throw new OpsError(`Temporal cannot be reached at ${config.temporal.address}. Does it run?`);
    throw error;
  }
}

/** Says whether an error of the client means that nobody answered. */
export function isUnreachable(error: unknown): boolean {
  const grpc = error instanceof Error && error.cause !== undefined ? error.cause : error;
  return isGrpcServiceError(grpc) && unreachableCodes.has(grpc.code);
}
