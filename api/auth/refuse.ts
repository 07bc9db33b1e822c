import { APIError } from 'better-auth/api';
import { toResponse } from 'better-call';
import { setResponse } from 'better-call/node';
import type { Response } from 'express';
import type { Logger } from 'pino';
import { ApiError } from '../../contract/api-error.ts';
import { type ErrorCode, errorCodes } from '../../contract/errors.ts';
import { isUnavailable } from '../../db/unavailable.ts';
import { toErrorResponse } from './error-response.ts';
import { BodyTooLarge } from './read-body.ts';

/** The seconds after which a client may retry if the service could not serve it. */
const retrySeconds = 2;

/** Sends the response for an error, and logs it if it is the service's fault. Destroys the connection if a response was begun. */
export async function refuseError(res: Response, err: unknown, log: Logger): Promise<void> {
  const requestId = res.getHeader('X-Request-Id');
  // The request was already ended, or its client has left.
  if (res.headersSent || res.closed) res.destroy();
  else if (err instanceof BodyTooLarge) fail(res, 413, 'payload_too_large');
  else if (err instanceof APIError) await setResponse(res, await toErrorResponse(toResponse(err), { path: '', isSignedIn: false }));
  else if (err instanceof ApiError) refuse(res, err.code, err);
  else if (isUnavailable(err)) {
    log.warn({ err, requestId }, 'a request was not served');
    refuse(res, 'SERVICE_UNAVAILABLE');
  } else {
    log.error({ err, requestId }, 'Request to /api/auth failed');
    fail(res, 500, 'internal_error');
  }
}

/** Sends an error of the API's own. */
function refuse(res: Response, code: ErrorCode, { message, data, retryAfterSeconds }: Partial<ApiError> = {}): void {
  const { status } = errorCodes[code];
  const afterSeconds = retryAfterSeconds ?? (status === 503 ? retrySeconds : undefined);
  if (afterSeconds !== undefined) res.setHeader('Retry-After', String(afterSeconds));
  const envelope = { defined: true, code, status, message: message ?? errorCodes[code].message };
  res.status(status).json(data === undefined ? envelope : { ...envelope, data });
}

/** Sends a status with `{ error, requestId }`. */
function fail(res: Response, status: number, error: string): void {
  res.status(status).json({ error, requestId: res.getHeader('X-Request-Id') });
}
