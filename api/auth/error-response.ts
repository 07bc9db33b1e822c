import { statusCodes } from 'better-call';
import { type ErrorCode, errorCodes } from '../../contract/errors.ts';

/** A request that better-auth refused. */
interface RefusedRequest {
  /** Below `/api/auth`, such as `/organization/leave`. */
  path: string;
  /** Whether the request carries a valid session. */
  isSignedIn: boolean;
}

interface Refusal {
  status: number;
  code: string;
  message: string;
}

const codeOfStatus = new Map(Object.entries(statusCodes).map(([code, status]) => [status as number, code]));

/** A 401 with one of these codes is about a credential in the request, not about the session. */
const credentialCodes = new Set([
  'INVALID_EMAIL_OR_PASSWORD',
  'INVALID_TOKEN',
  'TOKEN_EXPIRED',
  'INVALID_CODE',
  'INVALID_BACKUP_CODE',
  'INVALID_TWO_FACTOR_COOKIE',
  'FAILED_TO_GET_USER_INFO',
  'USER_EMAIL_NOT_FOUND',
]);

/** 400 errors, by path and code, that only mean that the caller is not a member. */
const strangerRefusals = new Set([
  '/organization/get-active-member MEMBER_NOT_FOUND',
  '/organization/cancel-invitation MEMBER_NOT_FOUND',
  '/organization/list-team-members USER_IS_NOT_A_MEMBER_OF_THE_TEAM',
]);

/**
 * Gives an error of better-auth the envelope of the API's errors: `{ defined, code, status, message }`, then its other fields. `defined`
 * is false only if nothing is served at the path. A caller who is signed in but not permitted gets 403, whatever better-auth returned.
 */
export async function toErrorResponse(response: Response, request: RefusedRequest): Promise<Response> {
  const defined = !(response.status === 404 && response.body === null);
  const { code, message, ...rest } = parseObject(await response.text());
  const fallback = codeOfStatus.get(response.status) ?? 'BAD_REQUEST';
  const named = { code: textOr(code, fallback), message: textOr(message, defaultMessage(fallback, defined)) };
  const said = { status: response.status, ...withRoleCode({ ...named, message: clearer[named.code] ?? named.message }) };
  const refusal = isForbidden(said, request) ? toForbidden(said) : isAnonymous(said, request) ? unauthorized : said;
  const headers = new Headers(response.headers);
  headers.set('content-type', 'application/json');
  headers.delete('content-length');
  const { status } = refusal;
  return new Response(JSON.stringify({ defined, code: refusal.code, status, message: refusal.message, ...rest }), { status, headers });
}

/** What better-auth says of these codes misleads: an invitation that has run out is still there. */
const clearer: Record<string, string> = {
  INVITATION_NOT_FOUND: 'This invitation was used, withdrawn or has run out: ask for another one.',
};

/** better-auth has the code of an unknown role in the message: `ROLE_NOT_FOUND: chef`. */
function withRoleCode({ code, message }: Omit<Refusal, 'status'>): Omit<Refusal, 'status'> {
  const [prefix, roles] = ['ROLE_NOT_FOUND: ', message.slice('ROLE_NOT_FOUND: '.length)];
  return message.startsWith(prefix) ? { code: 'ROLE_NOT_FOUND', message: `Role not found: ${roles}` } : { code, message };
}

function isForbidden({ status, code }: Refusal, { path, isSignedIn }: RefusedRequest): boolean {
  if (status === 400) return strangerRefusals.has(`${path} ${code}`);
  return status === 401 && !credentialCodes.has(code) && isSignedIn;
}

/** Whether the response is the one 400 that stands for a missing session. */
function isAnonymous({ status, code }: Refusal, { path, isSignedIn }: RefusedRequest): boolean {
  return status === 400 && code === 'BAD_REQUEST' && path === '/organization/list-user-invitations' && !isSignedIn;
}

const unauthorized: Refusal = { ...errorCodes.UNAUTHORIZED, code: 'UNAUTHORIZED' };

function toForbidden({ code, message }: Refusal): Refusal {
  const own = code !== 'UNAUTHORIZED';
  return { status: 403, code: own ? code : 'FORBIDDEN', message: own ? message : errorCodes.FORBIDDEN.message };
}

function defaultMessage(code: string, defined: boolean): string {
  if (!defined) return 'There is nothing at this path.';
  return code in errorCodes ? errorCodes[code as ErrorCode].message : 'The request is not valid.';
}

function parseObject(text: string): Record<string, unknown> {
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === 'object' && parsed !== null ? { ...parsed } : {};
  } catch {
    return {};
  }
}

function textOr(value: unknown, otherwise: string): string {
  return typeof value === 'string' && value !== '' ? value : otherwise;
}
