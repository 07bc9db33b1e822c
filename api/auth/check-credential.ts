import type { IncomingHttpHeaders } from 'node:http';
import { ApiError } from '../../contract/api-error.ts';
import { basePath } from './body-size.ts';
import { hasBearer } from './session-token.ts';

/** Paths where a session begins or ends, which must work for an application with an old token. */
const withoutSession = /^\/(sign-(in|up|out)|request-password-reset|reset-password|two-factor\/verify-(totp|backup-code))(\/|$)/;

/**
 * Throws UNAUTHORIZED if a request has an invalid bearer token. A client that sends one expects to be signed in, and must not go on as
 * anonymous.
 */
export function checkCredential(headers: IncomingHttpHeaders, path: string): void {
  if (hasBearer(headers) && !withoutSession.test(path.slice(basePath.length))) throw new ApiError('UNAUTHORIZED');
}
