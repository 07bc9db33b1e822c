import { createHmac, timingSafeEqual } from 'node:crypto';

/** The grant of a signed query string: one PUT of that content type, or a download under that name. HEAD counts as GET. */
export type Grant =
  | { method: 'PUT'; key: string; contentType: string }
  | { method: 'GET'; key: string; contentType: string; fileName: string };

/** Signs a grant: the query string is valid for everyone who has it, until `expiresAt` (whole seconds). */
export function signGrant(secret: Buffer, grant: Grant, expiresAt: Date): URLSearchParams {
  const expires = String(Math.floor(expiresAt.getTime() / 1000));
  const query = new URLSearchParams({ expires });
  if (grant.method === 'GET') {
    query.set('contentType', grant.contentType);
    query.set('fileName', grant.fileName);
  }
  query.set('signature', signatureOf(secret, grant, expires).toString('base64url'));
  return query;
}

/**
 * Reads the grant from the query string of a request; undefined unless its signature matches the method, the key, the content type
 * of a PUT and the other parameters, and has not expired at `now`.
 */
export function readGrant(
  secret: Buffer,
  request: { method: 'PUT' | 'GET'; key: string; contentType?: string | undefined; query: URLSearchParams; now: Date },
): Grant | undefined {
  const { method, key, query, now } = request;
  const expires = single(query, 'expires');
  const signature = single(query, 'signature');
  if (expires === undefined || signature === undefined) return undefined;
  const grant = method === 'PUT' ? uploadGrant(key, request.contentType) : downloadGrant(key, query);
  if (!grant || !isEqual(signatureOf(secret, grant, expires), Buffer.from(signature, 'base64url'))) return undefined;
  return now.getTime() < Number(expires) * 1000 ? grant : undefined;
}

function uploadGrant(key: string, contentType: string | undefined): Grant | undefined {
  return contentType === undefined ? undefined : { method: 'PUT', key, contentType };
}

function downloadGrant(key: string, query: URLSearchParams): Grant | undefined {
  const contentType = single(query, 'contentType');
  const fileName = single(query, 'fileName');
  return contentType === undefined || fileName === undefined ? undefined : { method: 'GET', key, contentType, fileName };
}

/** A parameter that is given exactly once, since the check and the reader might use different values of a repeated one. */
function single(query: URLSearchParams, name: string): string | undefined {
  const values = query.getAll(name);
  return values.length === 1 ? values[0] : undefined;
}

function signatureOf(secret: Buffer, grant: Grant, expires: string): Buffer {
  // JSON delimits the fields, so that no two grants have the same text.
  const fields = [grant.method, grant.key, expires, grant.contentType, grant.method === 'GET' ? grant.fileName : ''];
  return createHmac('sha256', secret).update(JSON.stringify(fields)).digest();
}

function isEqual(expected: Buffer, given: Buffer): boolean {
  return expected.length === given.length && timingSafeEqual(expected, given);
}
