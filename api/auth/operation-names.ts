const authPrefix = '/api/auth';

/**
 * The paths of better-auth's endpoints. They are listed here, so that only these become labels of metrics; a test compares the list with
 * the served paths.
 */
const paths = [
  ...['/sign-up/email', '/sign-in/email', '/sign-in/social', '/sign-out', '/callback/:id'],
  ...['/get-session', '/update-session', '/list-sessions', '/revoke-session', '/revoke-sessions', '/revoke-other-sessions'],
  ...['/send-verification-email', '/verify-email', '/verify-password', '/change-password', '/change-email', '/change-email/confirm'],
  ...['/request-password-reset', '/reset-password', '/reset-password/:token', '/update-user', '/delete-user', '/delete-user/callback'],
  ...['/list-accounts', '/link-social', '/unlink-account', '/get-access-token', '/refresh-token', '/account-info', '/ok', '/error'],
  ...below('/organization', [
    ...['create', 'check-slug', 'update', 'delete', 'list', 'get-organization', 'get-full-organization', 'set-active', 'leave'],
    ...['has-permission', 'list-members', 'get-active-member', 'get-active-member-role', 'update-member-role', 'remove-member'],
    ...['invite-member', 'accept-invitation', 'reject-invitation', 'cancel-invitation', 'get-invitation', 'get-invitation-names'],
    ...[
      'list-invitations',
      'list-user-invitations',
      'create-team',
      'list-teams',
      'update-team',
      'remove-team',
      'set-active-team',
      'list-user-teams',
    ],
    ...['list-team-members', 'add-team-member', 'remove-team-member'],
  ]),
  ...below('/admin', [
    ...['list-users', 'get-user', 'create-user', 'update-user', 'remove-user', 'set-role', 'set-user-password', 'ban-user', 'unban-user'],
    ...['list-user-sessions', 'revoke-user-session', 'revoke-user-sessions', 'impersonate-user', 'stop-impersonating', 'has-permission'],
  ]),
  ...below('/subscription', ['upgrade', 'list', 'cancel', 'restore', 'billing-portal', 'success']),
  ...below('/two-factor', [
    ...['enable', 'disable', 'verify-totp', 'verify-backup-code', 'generate-backup-codes', 'get-totp-uri', 'send-otp', 'verify-otp'],
    ...['list-trusted-devices', 'revoke-trusted-devices'],
  ]),
  '/stripe/webhook',
];

/** Paths without an id or token, matched as a whole; the others match by the part before it. */
const whole = new Map(paths.filter((path) => !path.includes(':')).map((path) => [path, nameOf(path)]));
const withId = new Map(paths.filter((path) => path.includes(':')).map((path) => [path.slice(0, path.indexOf('/:')), nameOf(path)]));

/**
 * The name of a request below `/api/auth` for metrics, log and traces: `auth.sign-in.email` for `/api/auth/sign-in/email`, without ids and
 * tokens. `auth` for a path that is no endpoint, undefined for one outside.
 */
export function authOperationOf(path: string): string | undefined {
  if (path !== authPrefix && !path.startsWith(`${authPrefix}/`)) return undefined;
  const endpoint = path.slice(authPrefix.length);
  return whole.get(endpoint) ?? withId.get(endpoint.slice(0, endpoint.lastIndexOf('/'))) ?? 'auth';
}

/** Whether the path is that of an endpoint without an id or token. */
export function isAuthEndpoint(path: string): boolean {
  return path.startsWith(`${authPrefix}/`) && whole.has(path.slice(authPrefix.length));
}

function below(prefix: string, names: string[]): string[] {
  return names.map((name) => `${prefix}/${name}`);
}

function nameOf(path: string): string {
  return `auth${path.replace(/\/:.*/s, '').replaceAll('/', '.')}`;
}
