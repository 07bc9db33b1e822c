import { APIError } from 'better-auth/api';
import pg from 'pg';
import { errorCodes } from '../contract/errors.ts';
import { isUnavailable } from '../db/unavailable.ts';

/** What migration 0003 raises, with the answer that its client gets. */
const rules: Record<string, { status: 'FORBIDDEN' | 'NOT_FOUND' | 'CONFLICT'; message: string }> = {
  LIMIT_REACHED: { status: 'FORBIDDEN', message: 'This organization has reached a limit of its plan.' },
  ORGANIZATION_BEING_DELETED: { status: 'NOT_FOUND', message: 'This organization is being deleted.' },
  LAST_OWNER: { status: 'CONFLICT', message: 'An organization needs an owner: make another member owner first.' },
  INVITATION_NOT_PENDING: { status: 'CONFLICT', message: 'The invitation is no longer pending.' },
};

/** Constraints that better-auth checks before it writes, for when another request was faster, or that it does not know. */
const constraints: Record<string, { code: string; message: string }> = {
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
  member_role_known: { code: 'ROLE_NOT_FOUND', message: 'Role not found' },
  invitation_role_known: { code: 'ROLE_NOT_FOUND', message: 'Role not found' },
};

const errorOf503 = { code: 'SERVICE_UNAVAILABLE', message: errorCodes.SERVICE_UNAVAILABLE.message };

/** Translates what the database refuses by rule into better-auth's error; any other error is returned as it is. */
export function toApiError(error: unknown): unknown {
  // better-auth turns errors that it does not know into others.
  if (isUnavailable(error)) return new APIError('SERVICE_UNAVAILABLE', errorOf503, { 'Retry-After': '2' });
  if (!(error instanceof pg.DatabaseError)) return error;
  if (error.code === 'SHEAF') {
    const rule = rules[error.message];
    if (rule) return new APIError(rule.status, { code: error.message, message: rule.message, ...toData(error.detail) });
  }
  const constraint = constraints[error.constraint ?? ''];
  return constraint ? new APIError('BAD_REQUEST', constraint) : error;
}

/** What the rule says of itself, such as the limit that was reached, as the `data` of the error. */
function toData(detail: string | undefined): { data?: object } {
  const data: object = JSON.parse(detail ?? '{}');
  return Object.keys(data).length > 0 ? { data } : {};
}
