import { type BetterAuthOptions, type BetterAuthPlugin, betterAuth } from 'better-auth';
import { bearer } from 'better-auth/plugins';
import { HandleEmptyInListsPlugin, Kysely, replaceWithNoncontingentExpression } from 'kysely';
import type pg from 'pg';
import type { Logger } from 'pino';
import { authSecrets, deriveKeys } from '../../base/config/keys.ts';
import type { ServerConfig } from '../../base/config/server.ts';
import type { Db } from '../../db/connect.ts';
import type { Payments } from '../../domain/payments/payments.ts';
import { createSecretBox, type SecretBox } from '../../domain/secret-box.ts';
import { noticeMail } from '../../domain/users/notice-mail.ts';
import { adminPlugin } from './admin-plugin.ts';
import { adminSetPasswordPlugin } from './admin-set-password.ts';
import { billingPlugin } from './billing-plugin.ts';
import { AuthDialect } from './dialect.ts';
import { setEmailRule } from './email-addresses.ts';
import { emailChangePlugin } from './email-change.ts';
import { createFirstAdmin } from './first-admin.ts';
import { handleWithMails } from './handle-request.ts';
import { inputPlugin } from './input-plugin.ts';
import { invitationPlugin } from './invitation-plugin.ts';
import { withPage, withResetPage } from './links.ts';
import { logLine } from './log-line.ts';
import { passwordResetMail, verificationMail } from './mails.ts';
import { membershipPlugin } from './membership-plugin.ts';
import { noticesPlugin } from './notices.ts';
import { oidcPlugin } from './oidc-plugin.ts';
import { organizationPlugin } from './organization-plugin.ts';
import { addMail, type WriteMails } from './outgoing-mails.ts';
import { ownAccountPlugin } from './own-account.ts';
import { passwordGuessesPlugin } from './password-guesses.ts';
import { passwordLength, passwords } from './passwords.ts';
import { redirectTargetPlugin } from './redirect-targets.ts';
import { repeatedSignUpPlugin } from './repeated-sign-up.ts';
import { clientAddressHeader, originOf } from './request-origin.ts';
import { openTokens, sealedTokensPlugin } from './sealed-tokens.ts';
import { cookieOptions, sessionLifetime } from './session-options.ts';
import { accountHooks } from './squatted-addresses.ts';
import { stopImpersonatingPlugin } from './stop-impersonating.ts';
import { trustedDevicesPlugin, verificationHooks, verificationOptions } from './trusted-devices.ts';
import { twoFactorPlugin } from './two-factor.ts';

interface AuthDependencies {
  config: ServerConfig;
  /** better-auth's own queries run on it; `db` is the query builder over the same database. */
  pool: pg.Pool;
  db: Db;
  log: Logger;
  writeMails: WriteMails;
  /** Absent while billing is off. */
  payments?: Payments | undefined;
}

const newUserFields = { twoFactorEnabled: false, role: 'user', banned: false, banReason: null, banExpires: null };

/** better-auth as this service uses it. `docs/decisions/auth.md` says who may do what. */
export type Auth = ReturnType<typeof createAuth>;

export function createAuth(dependencies: AuthDependencies) {
  setEmailRule();
  const auth = betterAuth(authOptions(dependencies));
  const signUp = (request: Request, body: unknown) =>
    auth.api.signUpEmail({ body: body as never, request, headers: request.headers, asResponse: true });
  const handler = handleWithMails(auth.handler, { ...dependencies, signUp });
  return { ...auth, handler, fetch: handler };
}

function authOptions({ config, pool, db, log, writeMails, payments }: AuthDependencies) {
  const { advanced, baseURL } = cookieOptions(config);
  const secrets = createSecretBox(...deriveKeys(config, 'at-rest'));
  return {
    appName: config.email.senderName,
    baseURL,
    basePath: '/api/auth',
    ...authSecrets(config),
    database: { db: createKysely({ pool, db, writeMails, secrets }), type: 'postgres', transaction: true },
    trustedOrigins: config.trustedOrigins,
    session: sessionLifetime,
    // A provider that vouches for an address outranks who signed up with it: see `accountHooks`.
    account: { accountLinking: { requireLocalEmailVerified: false } },
    emailAndPassword: {
      enabled: true,
      password: passwords,
      minPasswordLength: passwordLength.min,
      maxPasswordLength: passwordLength.max,
      requireEmailVerification: config.requireEmailVerification,
      revokeSessionsOnPasswordReset: true,
      // Stands in for a user whose address is taken. It must look like a new user, with the fields of the admin plugin.
      customSyntheticUser: ({ coreFields, additionalFields, id }) => ({ ...coreFields, ...newUserFields, ...additionalFields, id }),
      onPasswordReset: async ({ user }, request) =>
        addMail(noticeMail(user.email, 'Your password was changed', originOf(request?.headers))),
      sendResetPassword: async ({ user, url }) => addMail(passwordResetMail(user.email, withResetPage(url, config.webUrl))),
    },
    emailVerification: {
      sendOnSignUp: config.requireEmailVerification,
      // The link of a stranger's mail would sign a browser in as the stranger.
      autoSignInAfterVerification: false,
      sendVerificationEmail: async ({ user, url }) => addMail(verificationMail(user.email, withPage(url, config.webUrl))),
    },
    databaseHooks: {
      session: { create: { after: createFirstAdmin({ config, db, log }) } },
      verification: verificationHooks,
      account: accountHooks(db),
    },
    user: { deleteUser: { enabled: true } },
    verification: verificationOptions,
    rateLimit: { enabled: config.production, storage: 'database' },
    advanced: {
      ...advanced,
      ipAddress: { ipAddressHeaders: [clientAddressHeader] },
      // better-auth turns both off under NODE_ENV=test.
      disableOriginCheck: false,
      disableCSRFCheck: false,
      // better-auth deletes old rate limits in the background. Mails are not sent here: see `outgoing-mails.ts`.
      backgroundTasks: { handler: (task) => void task.catch((err: unknown) => log.error({ err }, 'A task of sign-in failed')) },
      database: { validateSchema: false, defaultFindManyLimit: 10_000 },
    },
    logger: { level: 'warn', log: logLine(log) },
    // Errors of better-auth become responses. Any other error reaches the mount, which logs it and responds with 500. better-auth's own
    // error page links to another site, and does not exist in production.
    onAPIError: { throw: true, errorURL: `${config.apiUrl}/` },
    telemetry: { enabled: false },
    plugins: [
      adminSetPasswordPlugin(db),
      twoFactorPlugin(config, db),
      trustedDevicesPlugin(db),
      bearer({ requireSignature: true }),
      organizationPlugin(config),
      adminPlugin(),
      inputPlugin(),
      redirectTargetPlugin(),
      membershipPlugin(db),
      invitationPlugin(db),
      ownAccountPlugin(),
      emailChangePlugin(config, db),
      repeatedSignUpPlugin(config),
      stopImpersonatingPlugin(),
      oidcPlugin(config),
      sealedTokensPlugin(secrets),
      noticesPlugin(db),
      ...((payments ? [billingPlugin({ config, payments })] : []) as BetterAuthPlugin[]),
      passwordGuessesPlugin(config, db, pool),
    ],
  } satisfies BetterAuthOptions;
}

function createKysely({
  pool,
  db,
  writeMails,
  secrets,
}: Pick<AuthDependencies, 'pool' | 'db' | 'writeMails'> & { secrets: SecretBox }): Kysely<unknown> {
  // better-auth also reads users by empty lists of ids, and `in ()` is not SQL.
  const emptyLists = new HandleEmptyInListsPlugin({ strategy: replaceWithNoncontingentExpression });
  return new Kysely({ dialect: new AuthDialect(pool, db, writeMails), plugins: [emptyLists, openTokens(secrets)] });
}
