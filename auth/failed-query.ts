import { APIError } from 'better-auth/api';
import { toResponse } from 'better-call';
import { currentRequest, withRequest } from './actor.ts';

/** Notes that a query of this request failed, and returns the error. */
export function noteFailure(error: unknown): unknown {
  const { noted } = currentRequest();
  if (noted) noted.error ??= error;
  return error;
}

/**
 * Runs an endpoint of better-auth that takes any failure for an empty list. If a query failed, the response is the error that the query
 * became, or the error is thrown.
 */
export async function orFailedQuery(call: () => Promise<Response>): Promise<Response> {
  const noted: { error?: unknown } = {};
  const response = await withRequest({ noted }, call);
  if (noted.error === undefined || response.status !== 200) return response;
  if (noted.error instanceof APIError) return toResponse(noted.error);
  throw noted.error;
}
