import { expect } from 'chai';
import Stripe from 'stripe';
import { type StripeServer, startStripeServer, subscriptionOf } from '../../lab/stripe-stand-in/stripe-server.ts';
import { listAuthEndpoints } from '../../support/auth-endpoints.ts';
import { neverRefused, neverTaken } from '../../support/coverage.ts';
import type { Answer, Client } from './support/client.ts';
import { readIdentityDoc } from './support/identity-doc.ts';
import { type OidcProvider, startOidcProvider } from './support/oidc-provider.ts';
import { type AuthService, billingOn, startAuthService, webOrigin } from './support/service.ts';
import { totp } from './support/totp.ts';

/** A right request of an endpoint, and a wrong one with the status and code of its refusal. */
interface Calls {
  right?: () => Promise<Answer>;
  wrong?: [call: () => Promise<Answer>, status: number, code: string];
}

const password = 'a long password';

describe('Every endpoint of sign-in', () => {
  let service: AuthService;
  let stripe: StripeServer;
  let provider: OidcProvider;
  let admin: Client;
  let owner: Client;
  let organizationId: string;
  let linked: Client;
  let accountId: string;
  before(async () => {
    stripe = await startStripeServer();
    provider = await startOidcProvider({ id: 'the-client', secret: 'the-secret' });
    service = await startAuthService({
      ...billingOn,
      PLANS: '{"free":{"members":1000}}',
      STRIPE_API_BASE: stripe.url,
      PROVIDER_A_ISSUER: provider.issuer,
      PROVIDER_A_CLIENT_ID: 'the-client',
      PROVIDER_A_CLIENT_SECRET: 'the-secret',
    });
    admin = (await newUser()).client;
    await service.db.updateTable('user').set({ role: 'admin' }).execute();
    owner = (await newUser()).client;
    organizationId = await owner.createOrganization();
    const customer = { stripeCustomerId: 'cus_1' };
    stripe.state.addCustomer('cus_1');
    await service.db.updateTable('organization').set(customer).where('id', '=', organizationId).execute();
    ({ client: linked, accountId } = await signInByProvider());
  });
  after(async () => {
    await service.stop();
    await stripe.stop();
    await provider.stop();
  });

  async function newUser(): Promise<{ client: Client; userId: string; email: string }> {
    const client = service.client();
    return { client, ...(await client.enter()) };
  }

  async function newMember(role = 'member') {
    const user = await newUser();
    const { body } = await owner.bring(user, { organizationId, role });
    return { ...user, memberId: body.member.id as string };
  }

  async function invite() {
    const user = await newUser();
    const { body } = await owner.post('/organization/invite-member', { email: user.email, role: 'member', organizationId });
    return { ...user, invitationId: body.id as string };
  }

  const newTeam = async () => (await owner.post('/organization/create-team', { name: 'Blue', organizationId })).body.id as string;

  async function newTeamMember() {
    const [{ client, userId }, teamId] = [await newMember(), await newTeam()];
    await owner.post('/organization/add-team-member', { teamId, userId, organizationId });
    return { client, userId, teamId };
  }

  const begin = (client: Client, path = '/sign-in/social') =>
    client.post(path, { provider: 'provider_a', callbackURL: webOrigin, errorCallbackURL: webOrigin });

  /** Goes to the provider, and returns the path and query of the callback. */
  async function visitProvider(client: Client): Promise<string> {
    const begun = await begin(client);
    const back = await fetch(begun.body.url, { redirect: 'manual' });
    const callback = back.headers.get('location') ?? '';
    return callback.slice(callback.indexOf('/callback/'));
  }

  let profiles = 0;
  async function signInByProvider() {
    provider.profile = { sub: `sub-${++profiles}`, email: `sub-${profiles}@example.com`, email_verified: true, name: 'P' };
    const client = service.client();
    await client.get(await visitProvider(client));
    const accounts = await client.get('/list-accounts');
    return { client, accountId: accounts.body[0].id as string };
  }

  function mailedToken(email: string, pattern: RegExp): string {
    const mail = service.mails.findLast(({ to }) => to === email);
    return pattern.exec(mail?.text ?? '')?.[1] ?? 'no mail';
  }

  async function askForReset() {
    const user = await newUser();
    await user.client.post('/request-password-reset', { email: user.email, redirectTo: webOrigin });
    return mailedToken(user.email, /reset-password\/(\w+)/);
  }

  async function askForVerification() {
    const user = await newUser();
    await user.client.post('/send-verification-email', { email: user.email });
    return mailedToken(user.email, /token=([^&\s]+)/);
  }

  /** A subscription of the organization, with the provider and in the database; every other one of it ends. */
  async function subscribe(values: { cancelAtPeriodEnd?: boolean } = {}) {
    await service.db.deleteFrom('subscription').execute();
    const ending = { cancel_at_period_end: values.cancelAtPeriodEnd ?? false };
    stripe.subscriptions.set('sub_1', {
      ...subscriptionOf('sub_1', { customer: 'cus_1', price: 'price_pro', status: 'active' }),
      ...ending,
    });
    const row = { plan: 'pro', status: 'active', stripeCustomerId: 'cus_1', stripeSubscriptionId: 'sub_1', ...values };
    await service.db
      .insertInto('subscription')
      .values({ id: 'row-1', referenceId: organizationId, ...row })
      .execute();
  }

  function sendEvent(secret: string) {
    const payload = JSON.stringify({ id: 'evt_1', object: 'event', type: 'customer.created', data: { object: {} } });
    const signature = Stripe.webhooks.generateTestHeaderString({ payload, secret });
    return service.client().post('/stripe/webhook', JSON.parse(payload), { 'stripe-signature': signature });
  }

  const anonymous = () => service.client();
  const returnUrl = webOrigin;
  const urls = { successUrl: webOrigin, cancelUrl: webOrigin };
  const asStranger = async (call: (client: Client) => Promise<Answer>) => call((await newUser()).client);
  const toAdmin = (path: string, body: object) => async () => admin.post(path, { userId: (await newUser()).userId, ...body });
  const notAdmin = (path: string, body: object, code: string): Calls['wrong'] => [
    () => asStranger((client) => client.post(path, { userId: 'x', ...body })),
    403,
    code,
  ];
  const unknownUser = (path: string, body: object = {}): Calls['wrong'] => [
    () => admin.post(path, { userId: 'nobody', ...body }),
    404,
    'USER_NOT_FOUND',
  ];
  const signedOut = (method: 'get' | 'post', path: string): Calls['wrong'] => [() => anonymous()[method](path), 401, 'UNAUTHORIZED'];
  const asSecured = (call: (client: Client) => Promise<Answer>) =>
    asStranger(async (client) => {
      const { body } = await client.post('/two-factor/enable', { password });
      await client.post('/two-factor/verify-totp', { code: totp(body.totpURI) });
      return call(client);
    });
  const byMember = async (call: (client: Client) => Promise<Answer>) => call((await newMember()).client);

  const calls: Record<string, Calls> = {
    'POST /sign-up/email': {
      right: () => anonymous().post('/sign-up/email', { name: 'N', email: 'right@example.com', password }),
      wrong: [
        () => anonymous().post('/sign-up/email', { name: 'N', email: 'b@example.com', password: 'short' }),
        400,
        'PASSWORD_TOO_SHORT',
      ],
    },
    'POST /sign-in/email': {
      right: async () => anonymous().post('/sign-in/email', { email: (await newUser()).email, password }),
      wrong: [() => anonymous().post('/sign-in/email', { email: 'no@example.com', password }), 401, 'INVALID_EMAIL_OR_PASSWORD'],
    },
    'POST /sign-out': {
      right: () => asStranger((client) => client.post('/sign-out')),
      wrong: [() => anonymous().post('/sign-out', 'text', { 'content-type': 'text/plain' }), 415, 'UNSUPPORTED_MEDIA_TYPE'],
    },
    'GET /get-session': { right: () => owner.get('/get-session') },
    'POST /get-session': { wrong: [() => owner.post('/get-session'), 405, 'METHOD_NOT_ALLOWED_DEFER_SESSION_REQUIRED'] },
    'GET /list-sessions': { right: () => owner.get('/list-sessions'), wrong: signedOut('get', '/list-sessions') },
    'POST /revoke-session': {
      right: () =>
        asStranger(async (client) => client.post('/revoke-session', { token: (await client.get('/list-sessions')).body[0].token })),
      wrong: [() => anonymous().post('/revoke-session', { token: 'none' }), 401, 'UNAUTHORIZED'],
    },
    'POST /revoke-sessions': {
      right: () => asStranger((client) => client.post('/revoke-sessions')),
      wrong: signedOut('post', '/revoke-sessions'),
    },
    'POST /revoke-other-sessions': {
      right: () => owner.post('/revoke-other-sessions'),
      wrong: signedOut('post', '/revoke-other-sessions'),
    },
    'POST /update-session': { wrong: [() => owner.post('/update-session', { theme: 'dark' }), 400, 'BAD_REQUEST'] },
    'POST /send-verification-email': {
      right: async () => anonymous().post('/send-verification-email', { email: (await newUser()).email }),
      wrong: [() => owner.post('/send-verification-email', { email: 'another@example.com' }), 400, 'EMAIL_MISMATCH'],
    },
    'GET /verify-email': {
      right: async () => anonymous().get(`/verify-email?token=${await askForVerification()}`),
      wrong: [() => anonymous().get('/verify-email?token=none'), 401, 'INVALID_TOKEN'],
    },
    'POST /request-password-reset': {
      right: () => anonymous().post('/request-password-reset', { email: 'nobody@example.com', redirectTo: webOrigin }),
      wrong: [
        () => anonymous().post('/request-password-reset', { email: 'nobody@example.com', redirectTo: 'https://evil.example' }),
        403,
        'INVALID_REDIRECT_URL',
      ],
    },
    'GET /reset-password/:token': {
      right: async () => anonymous().get(`/reset-password/${await askForReset()}?callbackURL=${webOrigin}`),
      wrong: [() => anonymous().get('/reset-password/none?callbackURL=https://evil.example'), 403, 'INVALID_CALLBACK_URL'],
    },
    'POST /reset-password': {
      right: async () => anonymous().post('/reset-password', { token: await askForReset(), newPassword: 'another password' }),
      wrong: [() => anonymous().post('/reset-password', { token: 'none', newPassword: 'another password' }), 400, 'INVALID_TOKEN'],
    },
    'POST /verify-password': {
      right: () => owner.post('/verify-password', { password }),
      wrong: [() => owner.post('/verify-password', { password: 'a wrong one' }), 400, 'INVALID_PASSWORD'],
    },
    'POST /change-password': {
      right: () => asStranger((client) => client.post('/change-password', { currentPassword: password, newPassword: 'another password' })),
      wrong: [
        () => owner.post('/change-password', { currentPassword: 'a wrong one', newPassword: 'another password' }),
        400,
        'INVALID_PASSWORD',
      ],
    },
    'POST /update-user': {
      right: () => owner.post('/update-user', { name: 'Olga' }),
      wrong: [() => owner.post('/update-user', { email: 'new@example.com' }), 400, 'EMAIL_CAN_NOT_BE_UPDATED'],
    },
    'GET /change-email/confirm': {
      right: async () => {
        const { client, userId, email } = await newUser();
        await service.db.updateTable('user').set({ emailVerified: true }).where('id', '=', userId).execute();
        await client.post('/change-email', { newEmail: `confirmed-${email}` });
        const token = /token=(\w+)/.exec(service.mails.findLast(({ to }) => to === email)?.text ?? '')?.[1];
        return client.get(`/change-email/confirm?token=${token}`);
      },
      wrong: [() => anonymous().get('/change-email/confirm?token=none'), 401, 'INVALID_TOKEN'],
    },
    'POST /change-email': {
      right: async () => {
        const { client, userId } = await newUser();
        await service.db.updateTable('user').set({ emailVerified: true }).where('id', '=', userId).execute();
        return client.post('/change-email', { newEmail: 'new@example.com' });
      },
      wrong: [() => owner.post('/change-email', { newEmail: 'new@example.com' }), 403, 'EMAIL_NOT_VERIFIED'],
    },
    'POST /delete-user': {
      right: () => asStranger((client) => client.post('/delete-user', { password })),
      wrong: [() => owner.post('/delete-user', { password }), 409, 'LAST_OWNER'],
    },
    'GET /delete-user/callback': { wrong: [() => owner.get('/delete-user/callback?token=none'), 404, 'INVALID_TOKEN'] },

    'POST /two-factor/enable': {
      right: () => asStranger((client) => client.post('/two-factor/enable', { password })),
      wrong: [() => owner.post('/two-factor/enable', { password: 'a wrong one' }), 400, 'INVALID_PASSWORD'],
    },
    'POST /two-factor/verify-totp': {
      right: () =>
        asStranger(async (client) => {
          const { body } = await client.post('/two-factor/enable', { password });
          return client.post('/two-factor/verify-totp', { code: totp(body.totpURI) });
        }),
      wrong: [() => owner.post('/two-factor/verify-totp', { code: '000000' }), 400, 'TOTP_NOT_ENABLED'],
    },
    'POST /two-factor/verify-backup-code': {
      right: () =>
        asStranger(async (client) => {
          const { body } = await client.post('/two-factor/enable', { password });
          return client.post('/two-factor/verify-backup-code', { code: body.backupCodes[0] });
        }),
      wrong: [() => owner.post('/two-factor/verify-backup-code', { code: 'none' }), 400, 'BACKUP_CODES_NOT_ENABLED'],
    },
    'POST /two-factor/generate-backup-codes': {
      right: () => asSecured((client) => client.post('/two-factor/generate-backup-codes', { password })),
      wrong: [() => owner.post('/two-factor/generate-backup-codes', { password }), 400, 'TWO_FACTOR_NOT_ENABLED'],
    },
    'POST /two-factor/get-totp-uri': {
      right: () => asSecured((client) => client.post('/two-factor/get-totp-uri', { password })),
      wrong: [() => owner.post('/two-factor/get-totp-uri', { password }), 400, 'TOTP_NOT_ENABLED'],
    },
    'GET /two-factor/list-trusted-devices': {
      right: () => owner.get('/two-factor/list-trusted-devices'),
      wrong: [() => anonymous().get('/two-factor/list-trusted-devices'), 401, 'UNAUTHORIZED'],
    },
    'POST /two-factor/revoke-trusted-devices': {
      right: () => owner.post('/two-factor/revoke-trusted-devices'),
      wrong: [() => anonymous().post('/two-factor/revoke-trusted-devices'), 401, 'UNAUTHORIZED'],
    },
    'POST /two-factor/disable': {
      right: () => asSecured((client) => client.post('/two-factor/disable', { password })),
      wrong: [() => owner.post('/two-factor/disable', { password: 'a wrong one' }), 400, 'INVALID_PASSWORD'],
    },
    'POST /two-factor/send-otp': { wrong: [() => owner.post('/two-factor/send-otp'), 400, 'OTP_NOT_CONFIGURED'] },
    'POST /two-factor/verify-otp': { wrong: [() => owner.post('/two-factor/verify-otp', { code: '000000' }), 400, 'OTP_HAS_EXPIRED'] },

    'POST /sign-in/social': {
      right: () => begin(anonymous()),
      wrong: [() => anonymous().post('/sign-in/social', { provider: 'provider_c' }), 404, 'PROVIDER_NOT_FOUND'],
    },
    'GET /callback/:id': {
      right: async () => {
        const client = anonymous();
        return client.get(await visitProvider(client));
      },
      wrong: [() => anonymous().get('/callback/provider_a?code=1&code=2'), 400, 'VALIDATION_ERROR'],
    },
    'POST /callback/:id': {
      right: () => anonymous().post('/callback/provider_a', { code: 'c', state: 's' }),
      wrong: [() => anonymous().post('/callback/provider_a', { code: 1 }), 400, 'VALIDATION_ERROR'],
    },
    'POST /link-social': {
      right: () => begin(owner, '/link-social'),
      wrong: [() => owner.post('/link-social', { provider: 'provider_c' }), 404, 'PROVIDER_NOT_FOUND'],
    },
    'GET /list-accounts': { right: () => owner.get('/list-accounts'), wrong: signedOut('get', '/list-accounts') },
    'POST /unlink-account': {
      right: async () => {
        const { client, accountId } = await signInByProvider();
        const { userId } = (await client.get('/get-session')).body.session;
        const second = `insert into account (id, "accountId", "providerId", "userId") values ($1, $1, 'credential', $1)`;
        await service.database.pool.query(second, [userId]);
        return client.post('/unlink-account', { accountId });
      },
      wrong: [() => owner.post('/unlink-account', { accountId: 'none' }), 400, 'FAILED_TO_UNLINK_LAST_ACCOUNT'],
    },
    'POST /get-access-token': {
      right: () => linked.post('/get-access-token', { accountId }),
      wrong: [() => owner.post('/get-access-token', { accountId }), 400, 'ACCOUNT_NOT_FOUND'],
    },
    'POST /refresh-token': {
      right: async () => {
        await service.database.pool.query(`update account set "refreshToken" = 'a-refresh-token' where id = $1`, [accountId]);
        return linked.post('/refresh-token', { accountId });
      },
      wrong: [() => owner.post('/refresh-token', { accountId }), 400, 'ACCOUNT_NOT_FOUND'],
    },
    'GET /account-info': {
      right: () => linked.get(`/account-info?accountId=${accountId}`),
      wrong: [() => owner.get(`/account-info?accountId=${accountId}`), 400, 'ACCOUNT_NOT_FOUND'],
    },

    'POST /organization/create': {
      right: () => owner.post('/organization/create', { name: 'N', slug: 'every-endpoint' }),
      wrong: [() => owner.post('/organization/create', { name: 'N', slug: 'No Slug' }), 400, 'INVALID_SLUG'],
    },
    'POST /organization/check-slug': {
      right: () => owner.post('/organization/check-slug', { slug: 'free' }),
      wrong: [
        async () => {
          await service.db.insertInto('organization').values({ id: 'taken', name: 'T', slug: 'taken' }).execute();
          return owner.post('/organization/check-slug', { slug: 'taken' });
        },
        400,
        'ORGANIZATION_SLUG_ALREADY_TAKEN',
      ],
    },
    'POST /organization/update': {
      right: () => owner.post('/organization/update', { organizationId, data: { name: 'New' } }),
      wrong: [
        () => byMember((client) => client.post('/organization/update', { organizationId, data: { name: 'New' } })),
        403,
        'YOU_ARE_NOT_ALLOWED_TO_UPDATE_THIS_ORGANIZATION',
      ],
    },
    'POST /organization/delete': {
      wrong: [() => owner.post('/organization/delete', { organizationId }), 404, 'ORGANIZATION_DELETION_DISABLED'],
    },
    'GET /organization/list': { right: () => owner.get('/organization/list'), wrong: signedOut('get', '/organization/list') },
    'GET /organization/get-organization': {
      right: () => owner.get(`/organization/get-organization?organizationId=${organizationId}`),
      wrong: [
        () => asStranger((client) => client.get(`/organization/get-organization?organizationId=${organizationId}`)),
        403,
        'USER_IS_NOT_A_MEMBER_OF_THE_ORGANIZATION',
      ],
    },
    'GET /organization/get-full-organization': {
      right: () => owner.get(`/organization/get-full-organization?organizationId=${organizationId}`),
      wrong: [() => owner.get('/organization/get-full-organization?organizationId=none'), 400, 'ORGANIZATION_NOT_FOUND'],
    },
    'POST /organization/set-active': {
      right: () => owner.post('/organization/set-active', { organizationId }),
      wrong: [
        () => asStranger((client) => client.post('/organization/set-active', { organizationId })),
        403,
        'USER_IS_NOT_A_MEMBER_OF_THE_ORGANIZATION',
      ],
    },
    'POST /organization/leave': {
      right: () => byMember((client) => client.post('/organization/leave', { organizationId })),
      wrong: [() => owner.post('/organization/leave', { organizationId }), 400, 'YOU_CANNOT_LEAVE_THE_ORGANIZATION_AS_THE_ONLY_OWNER'],
    },
    'POST /organization/has-permission': {
      right: () => owner.post('/organization/has-permission', { organizationId, permissions: { job: ['read'] } }),
      wrong: [() => owner.post('/organization/has-permission', { organizationId }), 400, 'VALIDATION_ERROR'],
    },
    'GET /organization/list-members': {
      right: () => owner.get(`/organization/list-members?organizationId=${organizationId}&limit=2`),
      wrong: [
        () => asStranger((client) => client.get(`/organization/list-members?organizationId=${organizationId}`)),
        403,
        'YOU_ARE_NOT_A_MEMBER_OF_THIS_ORGANIZATION',
      ],
    },
    'GET /organization/get-active-member': {
      right: () => owner.get('/organization/get-active-member'),
      wrong: [() => asStranger((client) => client.get('/organization/get-active-member')), 400, 'NO_ACTIVE_ORGANIZATION'],
    },
    'GET /organization/get-active-member-role': {
      right: () => owner.get(`/organization/get-active-member-role?organizationId=${organizationId}`),
      wrong: [() => asStranger((client) => client.get('/organization/get-active-member-role')), 400, 'NO_ACTIVE_ORGANIZATION'],
    },
    'POST /organization/update-member-role': {
      right: async () =>
        owner.post('/organization/update-member-role', { organizationId, memberId: (await newMember()).memberId, role: 'admin' }),
      wrong: [
        () => owner.post('/organization/update-member-role', { organizationId, memberId: 'none', role: 'admin' }),
        400,
        'MEMBER_NOT_FOUND',
      ],
    },
    'POST /organization/remove-member': {
      right: async () => owner.post('/organization/remove-member', { organizationId, memberIdOrEmail: (await newMember()).memberId }),
      wrong: [() => owner.post('/organization/remove-member', { organizationId, memberIdOrEmail: 'none' }), 400, 'MEMBER_NOT_FOUND'],
    },
    'POST /organization/invite-member': {
      right: () => owner.post('/organization/invite-member', { organizationId, email: 'guest@example.com', role: 'member' }),
      wrong: [
        async () => owner.post('/organization/invite-member', { organizationId, email: (await newMember()).email, role: 'member' }),
        400,
        'USER_IS_ALREADY_A_MEMBER_OF_THIS_ORGANIZATION',
      ],
    },
    'POST /organization/accept-invitation': {
      right: async () => {
        const { client, invitationId } = await invite();
        return client.post('/organization/accept-invitation', { invitationId });
      },
      wrong: [
        async () => owner.post('/organization/accept-invitation', { invitationId: (await invite()).invitationId }),
        403,
        'YOU_ARE_NOT_THE_RECIPIENT_OF_THE_INVITATION',
      ],
    },
    'POST /organization/reject-invitation': {
      right: async () => {
        const { client, invitationId } = await invite();
        return client.post('/organization/reject-invitation', { invitationId });
      },
      wrong: [() => owner.post('/organization/reject-invitation', { invitationId: 'none' }), 400, 'INVITATION_NOT_FOUND'],
    },
    'POST /organization/cancel-invitation': {
      right: async () => owner.post('/organization/cancel-invitation', { invitationId: (await invite()).invitationId }),
      wrong: [() => owner.post('/organization/cancel-invitation', { invitationId: 'none' }), 400, 'INVITATION_NOT_FOUND'],
    },
    'GET /organization/get-invitation': {
      right: async () => {
        const { client, invitationId } = await invite();
        return client.get(`/organization/get-invitation?id=${invitationId}`);
      },
      wrong: [() => owner.get('/organization/get-invitation?id=none'), 400, 'INVITATION_NOT_FOUND'],
    },
    'GET /organization/list-invitations': {
      right: () => owner.get(`/organization/list-invitations?organizationId=${organizationId}`),
      wrong: [
        () => asStranger((client) => client.get(`/organization/list-invitations?organizationId=${organizationId}`)),
        403,
        'FORBIDDEN',
      ],
    },
    'GET /organization/list-user-invitations': {
      right: async () => {
        const { client, userId } = await invite();
        await service.db.updateTable('user').set({ emailVerified: true }).where('id', '=', userId).execute();
        return client.get('/organization/list-user-invitations');
      },
      wrong: [
        () => asStranger((client) => client.get('/organization/list-user-invitations')),
        403,
        'EMAIL_VERIFICATION_REQUIRED_FOR_INVITATION',
      ],
    },
    'POST /organization/create-team': {
      right: () => owner.post('/organization/create-team', { organizationId, name: 'Red' }),
      wrong: [
        () => byMember((client) => client.post('/organization/create-team', { organizationId, name: 'Red' })),
        403,
        'YOU_ARE_NOT_ALLOWED_TO_CREATE_TEAMS_IN_THIS_ORGANIZATION',
      ],
    },
    'GET /organization/list-teams': {
      right: () => owner.get(`/organization/list-teams?organizationId=${organizationId}`),
      wrong: [
        () => asStranger((client) => client.get(`/organization/list-teams?organizationId=${organizationId}`)),
        403,
        'YOU_ARE_NOT_ALLOWED_TO_ACCESS_THIS_ORGANIZATION',
      ],
    },
    'POST /organization/update-team': {
      right: async () => owner.post('/organization/update-team', { teamId: await newTeam(), data: { name: 'Green', organizationId } }),
      wrong: [
        () => owner.post('/organization/update-team', { teamId: 'none', data: { name: 'Green', organizationId } }),
        400,
        'TEAM_NOT_FOUND',
      ],
    },
    'POST /organization/remove-team': {
      right: async () => owner.post('/organization/remove-team', { organizationId, teamId: await newTeam() }),
      wrong: [() => owner.post('/organization/remove-team', { organizationId, teamId: 'none' }), 400, 'TEAM_NOT_FOUND'],
    },
    'POST /organization/set-active-team': {
      right: async () => {
        const { client, teamId } = await newTeamMember();
        await client.post('/organization/set-active', { organizationId });
        return client.post('/organization/set-active-team', { teamId });
      },
      wrong: [() => owner.post('/organization/set-active-team', { teamId: 'none' }), 400, 'TEAM_NOT_FOUND'],
    },
    'GET /organization/list-user-teams': {
      right: async () => (await newTeamMember()).client.get('/organization/list-user-teams'),
      wrong: [
        async () => {
          const { userId } = await newUser();
          return owner.get(`/organization/list-user-teams?userId=${userId}&organizationId=${organizationId}`);
        },
        400,
        'USER_IS_NOT_A_MEMBER_OF_THE_ORGANIZATION',
      ],
    },
    'GET /organization/list-team-members': {
      right: async () => {
        const { client, teamId } = await newTeamMember();
        return client.get(`/organization/list-team-members?teamId=${teamId}`);
      },
      wrong: [
        async () => owner.get(`/organization/list-team-members?teamId=${(await newTeamMember()).teamId}`),
        403,
        'USER_IS_NOT_A_MEMBER_OF_THE_TEAM',
      ],
    },
    'POST /organization/add-team-member': {
      right: async () => {
        const { userId } = await newMember();
        return owner.post('/organization/add-team-member', { organizationId, teamId: await newTeam(), userId });
      },
      wrong: [
        async () => owner.post('/organization/add-team-member', { organizationId, teamId: await newTeam(), userId: 'none' }),
        400,
        'USER_IS_NOT_A_MEMBER_OF_THE_ORGANIZATION',
      ],
    },
    'POST /organization/remove-team-member': {
      right: async () => {
        const { teamId, userId } = await newTeamMember();
        return owner.post('/organization/remove-team-member', { organizationId, teamId, userId });
      },
      wrong: [
        async () => {
          const { userId } = await newMember();
          return owner.post('/organization/remove-team-member', { organizationId, teamId: await newTeam(), userId });
        },
        400,
        'USER_IS_NOT_A_MEMBER_OF_THE_TEAM',
      ],
    },

    'GET /admin/list-users': {
      right: () => admin.get('/admin/list-users?limit=2'),
      wrong: [() => owner.get('/admin/list-users'), 403, 'YOU_ARE_NOT_ALLOWED_TO_LIST_USERS'],
    },
    'GET /admin/get-user': {
      right: async () => admin.get(`/admin/get-user?id=${(await newUser()).userId}`),
      wrong: [() => admin.get('/admin/get-user?id=nobody'), 404, 'USER_NOT_FOUND'],
    },
    'POST /admin/create-user': {
      right: () => admin.post('/admin/create-user', { email: 'made@example.com', name: 'M', password, role: 'user' }),
      wrong: [() => admin.post('/admin/create-user', { email: 'no address', name: 'M', password }), 400, 'INVALID_EMAIL'],
    },
    'POST /admin/update-user': {
      right: toAdmin('/admin/update-user', { data: { name: 'Other' } }),
      wrong: unknownUser('/admin/update-user', { data: { name: 'Other' } }),
    },
    'POST /admin/set-role': {
      right: toAdmin('/admin/set-role', { role: 'user' }),
      wrong: notAdmin('/admin/set-role', { role: 'admin' }, 'YOU_ARE_NOT_ALLOWED_TO_CHANGE_USERS_ROLE'),
    },
    'POST /admin/set-user-password': {
      right: toAdmin('/admin/set-user-password', { newPassword: 'another password' }),
      wrong: [() => admin.post('/admin/set-user-password', { userId: 'x', newPassword: 'short' }), 400, 'PASSWORD_TOO_SHORT'],
    },
    'POST /admin/ban-user': {
      right: toAdmin('/admin/ban-user', { banReason: 'spam', banExpiresIn: 3600 }),
      wrong: unknownUser('/admin/ban-user'),
    },
    'POST /admin/unban-user': { right: toAdmin('/admin/unban-user', {}), wrong: unknownUser('/admin/unban-user') },
    'POST /admin/list-user-sessions': {
      right: toAdmin('/admin/list-user-sessions', {}),
      wrong: notAdmin('/admin/list-user-sessions', {}, 'YOU_ARE_NOT_ALLOWED_TO_LIST_USERS_SESSIONS'),
    },
    'POST /admin/revoke-user-session': {
      right: async () => {
        const { userId } = await newUser();
        const { body } = await admin.post('/admin/list-user-sessions', { userId });
        return admin.post('/admin/revoke-user-session', { sessionToken: body.sessions[0].token });
      },
      wrong: notAdmin('/admin/revoke-user-session', { sessionToken: 'x' }, 'YOU_ARE_NOT_ALLOWED_TO_REVOKE_USERS_SESSIONS'),
    },
    'POST /admin/revoke-user-sessions': {
      right: toAdmin('/admin/revoke-user-sessions', {}),
      wrong: notAdmin('/admin/revoke-user-sessions', {}, 'YOU_ARE_NOT_ALLOWED_TO_REVOKE_USERS_SESSIONS'),
    },
    'POST /admin/impersonate-user': {
      right: async () => {
        const second = await newUser();
        await service.db.updateTable('user').set({ role: 'admin' }).where('id', '=', second.userId).execute();
        return second.client.post('/admin/impersonate-user', { userId: (await newUser()).userId });
      },
      wrong: unknownUser('/admin/impersonate-user'),
    },
    'POST /admin/stop-impersonating': {
      right: async () => {
        const second = await newUser();
        await service.db.updateTable('user').set({ role: 'admin' }).where('id', '=', second.userId).execute();
        await second.client.post('/admin/impersonate-user', { userId: (await newUser()).userId });
        return second.client.post('/admin/stop-impersonating');
      },
      wrong: [() => owner.post('/admin/stop-impersonating'), 400, 'BAD_REQUEST'],
    },
    'POST /admin/remove-user': { right: toAdmin('/admin/remove-user', {}), wrong: unknownUser('/admin/remove-user') },
    'POST /admin/has-permission': {
      right: () => owner.post('/admin/has-permission', { permissions: { user: ['ban'] } }),
      wrong: [() => owner.post('/admin/has-permission', {}), 400, 'VALIDATION_ERROR'],
    },

    'POST /subscription/upgrade': {
      right: () => owner.post('/subscription/upgrade', { plan: 'pro', referenceId: organizationId, ...urls }),
      wrong: [
        () => owner.post('/subscription/upgrade', { plan: 'gold', referenceId: organizationId, ...urls }),
        400,
        'SUBSCRIPTION_PLAN_NOT_FOUND',
      ],
    },
    'GET /subscription/list': {
      right: () => owner.get(`/subscription/list?referenceId=${organizationId}`),
      wrong: [() => byMember((client) => client.get(`/subscription/list?referenceId=${organizationId}`)), 403, 'FORBIDDEN'],
    },
    'POST /subscription/cancel': {
      right: async () => {
        await subscribe();
        return owner.post('/subscription/cancel', { referenceId: organizationId, returnUrl });
      },
      wrong: [
        () => owner.post('/subscription/cancel', { referenceId: organizationId, subscriptionId: 'none', returnUrl }),
        400,
        'SUBSCRIPTION_NOT_FOUND',
      ],
    },
    'POST /subscription/restore': {
      right: async () => {
        await subscribe({ cancelAtPeriodEnd: true });
        return owner.post('/subscription/restore', { referenceId: organizationId });
      },
      wrong: [
        async () => {
          await subscribe();
          return owner.post('/subscription/restore', { referenceId: organizationId });
        },
        400,
        'SUBSCRIPTION_NOT_PENDING_CHANGE',
      ],
    },
    'POST /subscription/billing-portal': {
      right: () => owner.post('/subscription/billing-portal', { referenceId: organizationId, returnUrl }),
      wrong: [
        async () => owner.post('/subscription/billing-portal', { referenceId: await owner.createOrganization(), returnUrl }),
        404,
        'CUSTOMER_NOT_FOUND',
      ],
    },
    'GET /subscription/success': {
      right: () => owner.get(`/subscription/success?callbackURL=${webOrigin}`),
      wrong: [() => owner.get('/subscription/success?callbackURL=https://evil.example'), 403, 'INVALID_CALLBACK_URL'],
    },
    'POST /stripe/webhook': {
      right: () => sendEvent('whsec_test'),
      wrong: [() => sendEvent('whsec_other'), 400, 'FAILED_TO_CONSTRUCT_STRIPE_EVENT'],
    },
    'GET /ok': { right: () => anonymous().get('/ok') },
    'GET /error': { right: () => anonymous().get('/error?error=x') },
  };

  const doc = readIdentityDoc();

  for (const [name, { right, wrong }] of Object.entries(calls)) {
    if (right)
      it(`${name} takes a right request`, async () => {
        const answer = await right();
        expect(answer.status, JSON.stringify(answer.body)).to.be.within(200, 399);
      });
    if (wrong)
      it(`${name} refuses a wrong one, with a code that docs/identity.md names`, async () => {
        const [call, status, code] = wrong;
        const answer = await call();
        expect({ status: answer.status, code: answer.body.code }, JSON.stringify(answer.body)).to.deep.equal({ status, code });
        expect(doc.errorsOf(name), name).to.include(`${status} ${code}`);
      });
  }

  it('is called here with a right request and a wrong one, unless there is none', () => {
    for (const { name } of listAuthEndpoints()) {
      expect(calls[name]?.right !== undefined, `${name}: right`).to.equal(!neverTaken.has(name));
      expect(calls[name]?.wrong !== undefined, `${name}: wrong`).to.equal(!neverRefused.has(name));
    }
  });
});
