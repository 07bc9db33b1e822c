import { isUtf8 } from 'node:buffer';
import { APIError } from 'better-auth/api';
import { isStorable } from '../../contract/characters.ts';

const jsonType = /^application\/([a-z0-9.+-]*\+)?json/i;

/**
 * Throws VALIDATION_ERROR if the URL or the JSON body of a request has NUL, which Postgres refuses, or if the body has lone surrogates or
 * is not UTF-8, which would be stored as other text. Leaves a body that is not JSON to better-auth, which refuses it.
 */
export function checkText(url: string, body: Uint8Array | undefined, contentType = ''): void {
  if (url.includes('%00')) throw unfit('The URL must not have NUL');
  if (!body || !jsonType.test(contentType)) return;
  const charset = /;\s*charset\s*=\s*"?([^\s";]*)/i.exec(contentType)?.[1] ?? 'utf-8';
  if (!/^utf-?8$/i.test(charset) || !isUtf8(body)) throw unfit('[body] The body must be UTF-8');
  const path = findUnfit(parse(body), ['body']);
  if (path) throw unfit(`[${path.join('.')}] Text must be well-formed Unicode without NUL`);
}

function unfit(message: string): APIError {
  return new APIError('BAD_REQUEST', { code: 'VALIDATION_ERROR', message });
}

function parse(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(body));
  } catch {
    return undefined;
  }
}

/** The path of an unfit text, or of an object with an unfit key. */
function findUnfit(value: unknown, path: string[]): string[] | undefined {
  if (typeof value === 'string') return isStorable(value) ? undefined : path;
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [key, child] of Object.entries(value)) {
    const found = isStorable(key) ? findUnfit(child, [...path, key]) : path;
    if (found) return found;
  }
  return undefined;
}
