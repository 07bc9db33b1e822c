import { APIError } from 'better-auth/api';
import { toResponse } from 'better-call';
import { currentRequest, withRequest } from './actor.ts';

/** Records that a query of this request failed, and returns the error. */
export function noteFailure(error: unknown): unknown {
  const { noted } = currentRequest();
  if (noted) noted.error ??= error;
  return error;
}

/**
 * Runs an endpoint of better-auth, which turns some failures into a response with one of these statuses: an empty list, or a missing session.
 * If a query failed, responds with that error, or throws it.
 */
export async function orFailedQuery(statuses: number[], call: () => Promise<Response>): Promise<Response> {
  const noted: { error?: unknown } = {};
  const response = await withRequest({ noted }, call);
  if (noted.error === undefined || !statuses.includes(response.status)) return response;
  if (noted.error instanceof APIError) return toResponse(noted.error);
  throw noted.error;
}
