import type { IncomingHttpHeaders } from 'node:http';
import { ApiError } from '../contract/api-error.ts';
import { basePath } from './body-size.ts';
import { hasBearer } from './session-token.ts';

/** Where a session begins or ends: an application that still has an old token must get there. */
const withoutSession = /^\/(sign-(in|up|out)|request-password-reset|reset-password)(\/|$)/;

/**
 * Throws UNAUTHORIZED if a request without a session sent a bearer token, which does not hold then. Whoever sends one believes to be
 * somebody, and must not go on as nobody.
 */
export function checkCredential(headers: IncomingHttpHeaders, path: string): void {
  if (hasBearer(headers) && !withoutSession.test(path.slice(basePath.length))) throw new ApiError('UNAUTHORIZED');
}
