import type { Response } from 'express';
import type { Logger } from 'pino';
import { ApiError } from '../contract/api-error.ts';
import { type ErrorCode, errorCodes } from '../contract/errors.ts';
import { isUnavailable } from '../db/unavailable.ts';
import { UnfitText } from './check-text.ts';
import { BodyTooLarge } from './read-body.ts';

/** When a client may ask again that the service could not serve. */
const retrySeconds = 2;

/** Sends the response for an error, and logs it if the service is to blame. Destroys the connection if a response was begun. */
export function refuseError(res: Response, err: unknown, log: Logger): void {
  const requestId = res.getHeader('X-Request-Id');
  // The request was ended before, or its client has left.
  if (res.headersSent || res.closed) res.destroy();
  else if (err instanceof BodyTooLarge) fail(res, 413, 'payload_too_large');
  else if (err instanceof UnfitText) refuseText(res, err.message);
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

/** Refuses a change from an origin that is not trusted. */
export function refuseOrigin(res: Response): void {
  res.status(403).json({ defined: true, code: 'INVALID_ORIGIN', status: 403, message: 'Invalid origin' });
}

/** Refuses a form. */
export function refuseForm(res: Response): void {
  const message = 'The body must be JSON, with the header `Content-Type: application/json`.';
  res.status(415).json({ defined: true, code: 'UNSUPPORTED_MEDIA_TYPE', status: 415, message });
}

function refuseText(res: Response, message: string): void {
  res.status(400).json({ defined: true, code: 'VALIDATION_ERROR', status: 400, message });
}

/** Sends a status with `{ error, requestId }`. */
export function fail(res: Response, status: number, error: string): void {
  res.status(status).json({ error, requestId: res.getHeader('X-Request-Id') });
}
