import { APIError } from 'better-auth/api';
import pg from 'pg';
import { errorCodes } from '../../contract/errors.ts';
import { isUnavailable } from '../../db/unavailable.ts';

/** An invitation is valid as long as its inviter could still make it. */
export const inviterMayNot = 'Who sent the invitation may no longer invite: ask for another one.';

/** The errors that the migrations raise on better-auth's tables, and what the client gets. */
const rules: Record<string, { status: 'BAD_REQUEST' | 'FORBIDDEN' | 'NOT_FOUND' | 'CONFLICT' | 'TOO_MANY_REQUESTS'; message: string }> = {
  LIMIT_REACHED: { status: 'FORBIDDEN', message: 'This organization has reached a limit of its plan.' },
  YOU_HAVE_REACHED_THE_MAXIMUM_NUMBER_OF_ORGANIZATIONS: {
    status: 'FORBIDDEN',
    message: 'The user owns as many organizations on the free plan as one may.',
  },
  ORGANIZATION_SUSPENDED: { status: 'FORBIDDEN', message: 'This organization is suspended.' },
  LEGAL_HOLD: { status: 'CONFLICT', message: 'A legal hold keeps this.' },
  ORGANIZATION_BEING_DELETED: { status: 'NOT_FOUND', message: 'This organization is being deleted.' },
  LAST_OWNER: { status: 'CONFLICT', message: 'An organization needs an owner: make another member owner, or delete it first.' },
  OWNED_ORGANIZATION_BEING_DELETED: {
    status: 'CONFLICT',
    message: 'An organization that needs this owner is being deleted: try again when it is gone.',
  },
  TOO_MANY_REQUESTS: { status: 'TOO_MANY_REQUESTS', message: 'Too many invitations: try again later.' },
  INVITER_IS_NO_LONGER_A_MEMBER_OF_THE_ORGANIZATION: { status: 'BAD_REQUEST', message: inviterMayNot },
  INVITATION_NOT_PENDING: { status: 'CONFLICT', message: 'The invitation is no longer pending.' },
};

/** Constraints that better-auth does not know, or checks before it writes, so that a faster request may violate them. */
export const constraints = {
  user_email_key: { code: 'USER_ALREADY_EXISTS_USE_ANOTHER_EMAIL', message: 'User already exists. Use another email.' },
  user_is_no_customer: { code: 'FIELD_NOT_ALLOWED', message: 'stripeCustomerId is not allowed to be set' },
  user_role_known: { code: 'ROLE_NOT_FOUND', message: 'Role not found' },
  organization_slug_key: { code: 'ORGANIZATION_ALREADY_EXISTS', message: 'Organization already exists' },
  organization_slug_form: {
    code: 'INVALID_SLUG',
    message: 'The slug must have 2 to 48 lower-case letters, digits and hyphens, and neither begin nor end with a hyphen.',
  },
  member_organizationId_userId_key: {
    code: 'USER_IS_ALREADY_A_MEMBER_OF_THIS_ORGANIZATION',
    message: 'User is already a member of this organization',
  },
  user_name_length: { code: 'NAME_TOO_LONG', message: 'The name has at most 120 characters.' },
  user_email_length: { code: 'INVALID_EMAIL', message: 'Invalid email' },
  user_image_length: { code: 'IMAGE_TOO_LONG', message: 'The address of the image has at most 2048 characters.' },
  organization_name_length: { code: 'NAME_TOO_LONG', message: 'The name has at most 80 characters.' },
  organization_logo_length: { code: 'IMAGE_TOO_LONG', message: 'The address of the logo has at most 2048 characters.' },
  organization_metadata_length: { code: 'METADATA_TOO_LONG', message: 'The metadata have at most 10000 characters as JSON.' },
  team_name_length: { code: 'NAME_TOO_LONG', message: 'The name has at most 80 characters.' },
  invitation_email_length: { code: 'INVALID_EMAIL', message: 'Invalid email' },
  member_role_known: { code: 'ROLE_NOT_FOUND', message: 'Role not found' },
  twoFactor_userId_idx: { code: 'TOTP_ALREADY_ENABLED', message: 'TOTP is already enabled' },
  invitation_role_known: { code: 'ROLE_NOT_FOUND', message: 'Role not found' },
} satisfies Record<string, { code: string; message: string }>;

const notNullViolation = '23502';
const dataExceptions = '22';
const errorOfValues = { code: 'VALIDATION_ERROR', message: 'A field has the wrong form' };
const errorOf503 = { code: 'SERVICE_UNAVAILABLE', message: errorCodes.SERVICE_UNAVAILABLE.message };

/** Translates an error that a trigger raises into better-auth's error. Returns any other error as it is. */
export function toApiError(error: unknown): unknown {
  // better-auth turns errors that it does not know into others. The cause, which no client sees, tells a deadlock.
  if (isUnavailable(error)) return new APIError('SERVICE_UNAVAILABLE', { ...errorOf503, cause: error }, { 'Retry-After': '2' });
  if (!(error instanceof pg.DatabaseError)) return error;
  if (error.code === 'SHEAF') {
    const rule = rules[error.message];
    if (rule) return toRefusal(error.message, rule, JSON.parse(error.detail ?? '{}'));
  }
  const known = Object.entries(constraints).find(([name]) => name === error.constraint);
  if (known) return new APIError('BAD_REQUEST', known[1]);
  return isUnfitValue(error) ? new APIError('BAD_REQUEST', errorOfValues) : error;
}

/** Whether a client's value, passed on by better-auth, does not fit its column or is missing. */
function isUnfitValue({ code }: pg.DatabaseError): boolean {
  return code === notNullViolation || code?.slice(0, 2) === dataExceptions;
}

/** The refusal, with the details of the rule: the reached limit as `data`, or when to retry. */
function toRefusal(code: string, { status, message }: (typeof rules)[string], detail: Record<string, unknown>): APIError {
  const { retryAfterSeconds, ...data } = detail;
  const body = { code, message, ...(Object.keys(data).length > 0 ? { data } : {}) };
  return new APIError(status, body, retryAfterSeconds === undefined ? {} : { 'X-Retry-After': String(retryAfterSeconds) });
}
