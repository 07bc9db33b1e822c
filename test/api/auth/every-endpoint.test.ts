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

type Asker = Pick<Client, 'get' | 'post'>;
/** Who asks, also with what the request has to name. */
type Who = () => Asker | Promise<Asker | [asker: Asker, fields: object]>;
/** The body of a POST, the query of a GET, also the part of the path: a text is sent as it is. */
type Fields = object | string | ((asker: Asker) => Promise<object>);
/** A request of an endpoint: a right one, or a wrong one with the status and code of its refusal. */
type Case = [endpoint: string, who: Who, fields?: Fields, refusal?: string];

const password = 'a long password';
const newPassword = 'another password';
const evil = 'https://evil.example';
const none = {};

describe('Every endpoint of sign-in', () => {
  let service: AuthService;
  let stripe: StripeServer;
  let provider: OidcProvider;
  let platformAdmin: Client;
  let first: Client;
  let organizationId: string;
  let fromProvider: Client;
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
    platformAdmin = await service.enterAdmin();
    first = (await newUser()).client;
    organizationId = await first.createOrganization();
    stripe.state.addCustomer('cus_1');
    await service.db.updateTable('organization').set({ stripeCustomerId: 'cus_1' }).where('id', '=', organizationId).execute();
    ({ client: fromProvider, accountId } = await signInByProvider());
  });
  after(async () => {
    await service.stop();
    await stripe.stop();
    await provider.stop();
  });

  async function newUser({ emailVerified = false } = {}) {
    const client = service.client();
    const user = await client.enter();
    await service.db.updateTable('user').set({ emailVerified }).where('id', '=', user.userId).execute();
    return { client, ...user };
  }

  async function newMember() {
    const user = await newUser();
    const { body } = await first.bring(user, { organizationId });
    return { ...user, memberId: body.member.id as string };
  }

  async function newInvited(emailVerified = false) {
    const user = await newUser({ emailVerified });
    const { body } = await first.post('/organization/invite-member', { email: user.email, role: 'member', organizationId });
    return { ...user, invitationId: body.id as string };
  }

  const newTeam = async () => (await first.post('/organization/create-team', { name: 'Blue', organizationId })).body.id as string;

  async function newTeamMember() {
    const [{ client, userId }, teamId] = [await newMember(), await newTeam()];
    await first.post('/organization/add-team-member', { teamId, userId, organizationId });
    return { client, userId, teamId };
  }

  /** Goes to the provider, and returns what its callback gets. */
  async function visitProvider(client: Asker): Promise<object> {
    const begun = await client.post('/sign-in/social', social);
    const back = await fetch(begun.body.url, { redirect: 'manual' });
    return Object.fromEntries(new URL(back.headers.get('location') ?? '').searchParams);
  }

  let profiles = 0;
  async function signInByProvider() {
    provider.profile = { sub: `sub-${++profiles}`, email: `sub-${profiles}@example.com`, email_verified: true, name: 'P' };
    const client = service.client();
    await client.get(`/callback/provider_a?${new URLSearchParams({ ...(await visitProvider(client)) })}`);
    const { body } = await client.get('/list-accounts');
    return { client, accountId: body[0].id as string };
  }

  /** Asks for a mail to somebody new, and returns the token in it. */
  async function mailedToken(path: string, fieldsOf: (email: string) => object): Promise<string> {
    const { client, email } = await newUser({ emailVerified: path === '/change-email' });
    await client.post(path, fieldsOf(email));
    const text = service.mails.findLast(({ to }) => to === email)?.text ?? '';
    return /(?:reset-password\/|token=)([^?&\s]+)/.exec(text)?.[1] ?? 'no mail';
  }
  const askForReset = () => mailedToken('/request-password-reset', (email) => ({ email, redirectTo: webOrigin }));

  /** A subscription of the organization, with the provider and in the database; every other one of it ends. */
  async function subscribe(values: { cancelAtPeriodEnd?: boolean } = {}): Promise<void> {
    await service.db.deleteFrom('subscription').execute();
    const ending = { cancel_at_period_end: values.cancelAtPeriodEnd ?? false };
    const atStripe = subscriptionOf('sub_1', { customer: 'cus_1', price: 'price_pro', status: 'active' });
    stripe.subscriptions.set('sub_1', { ...atStripe, ...ending });
    const row = { plan: 'pro', status: 'active', stripeCustomerId: 'cus_1', stripeSubscriptionId: 'sub_1', ...values };
    await service.db
      .insertInto('subscription')
      .values({ id: 'row-1', referenceId: organizationId, ...row })
      .execute();
  }

  async function secure(client: Asker): Promise<{ totpURI: string; backupCodes: string[] }> {
    return (await client.post('/two-factor/enable', { password })).body;
  }

  const anonymous: Who = () => service.client();
  const owner: Who = () => first;
  const admin: Who = () => platformAdmin;
  const linked: Who = () => fromProvider;
  const stranger: Who = async () => (await newUser()).client;
  const verified: Who = async () => (await newUser({ emailVerified: true })).client;
  const member: Who = async () => (await newMember()).client;
  const newAdmin = () => service.enterAdmin();
  const secured: Who = async () => {
    const { client } = await newUser();
    await client.post('/two-factor/verify-totp', { code: totp((await secure(client)).totpURI) });
    return client;
  };
  const impersonating: Who = async () => {
    const client = await newAdmin();
    await client.post('/admin/impersonate-user', { userId: (await newUser()).userId });
    return client;
  };
  const withPassword: Who = async () => {
    const { client, accountId } = await signInByProvider();
    const { userId } = (await client.get('/get-session')).body.session;
    const second = `insert into account (id, "accountId", "providerId", "userId") values ($1, $1, 'credential', $1)`;
    await service.database.pool.query(second, [userId]);
    return [client, { accountId }];
  };
  const invited: Who = async () => {
    const { client, invitationId } = await newInvited();
    return [client, { invitationId }];
  };
  const inTeam: Who = async () => {
    const { client, teamId } = await newTeamMember();
    await client.post('/organization/set-active', { organizationId });
    return [client, { teamId }];
  };
  /** Stripe, with a secret of the webhook. */
  const stripeBy =
    (secret: string): Who =>
    () => {
      const client = service.client();
      const post = client.post.bind(client);
      const signatureOf = (body: unknown) => Stripe.webhooks.generateTestHeaderString({ payload: JSON.stringify(body), secret });
      return Object.assign(client, {
        post: (path: string, body?: unknown) => post(path, body, { 'stripe-signature': signatureOf(body) }),
      });
    };

  const social = { provider: 'provider_a', callbackURL: webOrigin, errorCallbackURL: webOrigin };
  const unknownProvider = { provider: 'provider_c' };
  const event = { id: 'evt_1', object: 'event', type: 'customer.created', data: { object: {} } };
  const signUp = { name: 'N', email: 'right@example.com', password };
  const urls = { successUrl: webOrigin, cancelUrl: webOrigin };
  const returnUrl = webOrigin;
  const nobody = { userId: 'nobody' };
  const ofAccount = async () => ({ accountId });
  const org =
    (fields: object = {}) =>
    async () => ({ organizationId, ...fields });
  const paying =
    (fields: object = {}) =>
    async () => ({ referenceId: organizationId, ...fields });
  const someUser =
    (fields: object = {}) =>
    async () => ({ userId: (await newUser()).userId, ...fields });
  const ofNewMember = async () => ({ organizationId, teamId: await newTeam(), userId: (await newMember()).userId });

  const cases: Case[] = [
    ['POST /sign-up/email', anonymous, signUp],
    ['POST /sign-up/email', anonymous, { ...signUp, email: 'b@example.com', password: 'short' }, '400 PASSWORD_TOO_SHORT'],
    ['POST /sign-in/email', anonymous, async () => ({ email: (await newUser()).email, password })],
    ['POST /sign-in/email', anonymous, { email: 'no@example.com', password }, '401 INVALID_EMAIL_OR_PASSWORD'],
    ['POST /sign-out', stranger],
    ['POST /sign-out', anonymous, 'text', '415 UNSUPPORTED_MEDIA_TYPE'],
    ['GET /get-session', owner],
    ['POST /get-session', owner, none, '405 METHOD_NOT_ALLOWED_DEFER_SESSION_REQUIRED'],
    ['GET /list-sessions', owner],
    ['GET /list-sessions', anonymous, none, '401 UNAUTHORIZED'],
    ['POST /revoke-session', stranger, async (client) => ({ token: (await client.get('/list-sessions')).body[0].token })],
    ['POST /revoke-session', anonymous, { token: 'none' }, '401 UNAUTHORIZED'],
    ['POST /revoke-sessions', stranger],
    ['POST /revoke-sessions', anonymous, none, '401 UNAUTHORIZED'],
    ['POST /revoke-other-sessions', owner],
    ['POST /revoke-other-sessions', anonymous, none, '401 UNAUTHORIZED'],
    ['POST /update-session', owner, { theme: 'dark' }, '400 BAD_REQUEST'],
    ['POST /send-verification-email', anonymous, async () => ({ email: (await newUser()).email })],
    ['POST /send-verification-email', owner, { email: 'another@example.com' }, '400 EMAIL_MISMATCH'],
    ['GET /verify-email', anonymous, async () => ({ token: await mailedToken('/send-verification-email', (email) => ({ email })) })],
    ['GET /verify-email', anonymous, { token: 'none' }, '401 INVALID_TOKEN'],
    ['POST /request-password-reset', anonymous, { email: 'nobody@example.com', redirectTo: webOrigin }],
    ['POST /request-password-reset', anonymous, { email: 'nobody@example.com', redirectTo: evil }, '403 INVALID_REDIRECT_URL'],
    ['GET /reset-password/:token', anonymous, async () => ({ token: await askForReset(), callbackURL: webOrigin })],
    ['GET /reset-password/:token', anonymous, { token: 'none', callbackURL: evil }, '403 INVALID_CALLBACK_URL'],
    ['POST /reset-password', anonymous, async () => ({ token: await askForReset(), newPassword })],
    ['POST /reset-password', anonymous, { token: 'none', newPassword }, '400 INVALID_TOKEN'],
    ['POST /verify-password', owner, { password }],
    ['POST /verify-password', owner, { password: 'a wrong one' }, '400 INVALID_PASSWORD'],
    ['POST /change-password', stranger, { currentPassword: password, newPassword }],
    ['POST /change-password', owner, { currentPassword: 'a wrong one', newPassword }, '400 INVALID_PASSWORD'],
    ['POST /update-user', owner, { name: 'Olga' }],
    ['POST /update-user', owner, { email: 'new@example.com' }, '400 EMAIL_CAN_NOT_BE_UPDATED'],
    ['POST /change-email', verified, { newEmail: 'new@example.com' }],
    ['POST /change-email', owner, { newEmail: 'new@example.com' }, '403 EMAIL_NOT_VERIFIED'],
    [
      'GET /change-email/confirm',
      anonymous,
      async () => ({ token: await mailedToken('/change-email', (email) => ({ newEmail: `confirmed-${email}` })) }),
    ],
    ['GET /change-email/confirm', anonymous, { token: 'none' }, '401 INVALID_TOKEN'],
    ['POST /delete-user', stranger, { password }],
    ['POST /delete-user', owner, { password }, '409 LAST_OWNER'],
    ['GET /delete-user/callback', owner, { token: 'none' }, '404 INVALID_TOKEN'],

    ['POST /two-factor/enable', stranger, { password }],
    ['POST /two-factor/enable', owner, { password: 'a wrong one' }, '400 INVALID_PASSWORD'],
    ['POST /two-factor/verify-totp', stranger, async (client) => ({ code: totp((await secure(client)).totpURI) })],
    ['POST /two-factor/verify-totp', owner, { code: '000000' }, '400 TOTP_NOT_ENABLED'],
    ['POST /two-factor/verify-backup-code', stranger, async (client) => ({ code: (await secure(client)).backupCodes[0] })],
    ['POST /two-factor/verify-backup-code', owner, { code: 'none' }, '400 BACKUP_CODES_NOT_ENABLED'],
    ['POST /two-factor/generate-backup-codes', secured, { password }],
    ['POST /two-factor/generate-backup-codes', owner, { password }, '400 TWO_FACTOR_NOT_ENABLED'],
    ['POST /two-factor/get-totp-uri', secured, { password }],
    ['POST /two-factor/get-totp-uri', owner, { password }, '400 TOTP_NOT_ENABLED'],
    ['GET /two-factor/list-trusted-devices', owner],
    ['GET /two-factor/list-trusted-devices', anonymous, none, '401 UNAUTHORIZED'],
    ['POST /two-factor/revoke-trusted-devices', owner],
    ['POST /two-factor/revoke-trusted-devices', anonymous, none, '401 UNAUTHORIZED'],
    ['POST /two-factor/disable', secured, { password }],
    ['POST /two-factor/disable', owner, { password: 'a wrong one' }, '400 INVALID_PASSWORD'],
    ['POST /two-factor/send-otp', owner, none, '400 OTP_NOT_CONFIGURED'],
    ['POST /two-factor/verify-otp', owner, { code: '000000' }, '400 OTP_HAS_EXPIRED'],

    ['POST /sign-in/social', anonymous, social],
    ['POST /sign-in/social', anonymous, unknownProvider, '404 PROVIDER_NOT_FOUND'],
    ['GET /callback/:id', anonymous, visitProvider],
    ['GET /callback/:id', anonymous, 'code=1&code=2', '400 VALIDATION_ERROR'],
    ['POST /callback/:id', anonymous, { code: 'c', state: 's' }],
    ['POST /callback/:id', anonymous, { code: 1 }, '400 VALIDATION_ERROR'],
    ['POST /link-social', owner, social],
    ['POST /link-social', owner, unknownProvider, '404 PROVIDER_NOT_FOUND'],
    ['GET /list-accounts', owner],
    ['GET /list-accounts', anonymous, none, '401 UNAUTHORIZED'],
    ['POST /unlink-account', withPassword],
    ['POST /unlink-account', owner, { accountId: 'none' }, '400 FAILED_TO_UNLINK_LAST_ACCOUNT'],
    ['POST /get-access-token', linked, ofAccount],
    ['POST /get-access-token', owner, ofAccount, '400 ACCOUNT_NOT_FOUND'],
    [
      'POST /refresh-token',
      linked,
      async () => {
        await service.database.pool.query(`update account set "refreshToken" = 'a-refresh-token' where id = $1`, [accountId]);
        return { accountId };
      },
    ],
    ['POST /refresh-token', owner, ofAccount, '400 ACCOUNT_NOT_FOUND'],
    ['GET /account-info', linked, ofAccount],
    ['GET /account-info', owner, ofAccount, '400 ACCOUNT_NOT_FOUND'],

    ['POST /organization/create', owner, { name: 'N', slug: 'every-endpoint', keepCurrentActiveOrganization: true }],
    ['POST /organization/create', owner, { name: 'N', slug: 'No Slug' }, '400 INVALID_SLUG'],
    ['POST /organization/check-slug', owner, { slug: 'free' }],
    ['POST /organization/check-slug', owner, { slug: 'every-endpoint' }, '400 ORGANIZATION_SLUG_ALREADY_TAKEN'],
    ['POST /organization/update', owner, org({ data: { name: 'New' } })],
    ['POST /organization/update', member, org({ data: { name: 'New' } }), '403 YOU_ARE_NOT_ALLOWED_TO_UPDATE_THIS_ORGANIZATION'],
    ['POST /organization/delete', owner, org(), '404 ORGANIZATION_DELETION_DISABLED'],
    ['GET /organization/list', owner],
    ['GET /organization/list', anonymous, none, '401 UNAUTHORIZED'],
    ['GET /organization/get-organization', owner, org()],
    ['GET /organization/get-organization', stranger, org(), '403 USER_IS_NOT_A_MEMBER_OF_THE_ORGANIZATION'],
    ['GET /organization/get-full-organization', owner, org()],
    ['GET /organization/get-full-organization', owner, { organizationId: 'none' }, '400 ORGANIZATION_NOT_FOUND'],
    ['POST /organization/set-active', owner, org()],
    ['POST /organization/set-active', stranger, org(), '403 USER_IS_NOT_A_MEMBER_OF_THE_ORGANIZATION'],
    ['POST /organization/leave', member, org()],
    ['POST /organization/leave', owner, org(), '400 YOU_CANNOT_LEAVE_THE_ORGANIZATION_AS_THE_ONLY_OWNER'],
    ['POST /organization/has-permission', owner, org({ permissions: { job: ['read'] } })],
    ['POST /organization/has-permission', owner, org(), '400 VALIDATION_ERROR'],
    ['GET /organization/list-members', owner, org({ limit: 2 })],
    ['GET /organization/list-members', stranger, org(), '403 YOU_ARE_NOT_A_MEMBER_OF_THIS_ORGANIZATION'],
    ['GET /organization/get-active-member', owner],
    ['GET /organization/get-active-member', stranger, none, '400 NO_ACTIVE_ORGANIZATION'],
    ['GET /organization/get-active-member-role', owner, org()],
    ['GET /organization/get-active-member-role', stranger, none, '400 NO_ACTIVE_ORGANIZATION'],
    ['POST /organization/update-member-role', owner, async () => org({ memberId: (await newMember()).memberId, role: 'admin' })()],
    ['POST /organization/update-member-role', owner, org({ memberId: 'none', role: 'admin' }), '400 MEMBER_NOT_FOUND'],
    ['POST /organization/remove-member', owner, async () => org({ memberIdOrEmail: (await newMember()).memberId })()],
    ['POST /organization/remove-member', owner, org({ memberIdOrEmail: 'none' }), '400 MEMBER_NOT_FOUND'],
    ['POST /organization/invite-member', owner, org({ email: 'guest@example.com', role: 'member' })],
    [
      'POST /organization/invite-member',
      owner,
      async () => org({ email: (await newMember()).email, role: 'member' })(),
      '400 USER_IS_ALREADY_A_MEMBER_OF_THIS_ORGANIZATION',
    ],
    ['POST /organization/accept-invitation', invited],
    [
      'POST /organization/accept-invitation',
      owner,
      async () => ({ invitationId: (await newInvited()).invitationId }),
      '403 YOU_ARE_NOT_THE_RECIPIENT_OF_THE_INVITATION',
    ],
    ['POST /organization/reject-invitation', invited],
    ['POST /organization/reject-invitation', owner, { invitationId: 'none' }, '400 INVITATION_NOT_FOUND'],
    ['POST /organization/cancel-invitation', owner, async () => ({ invitationId: (await newInvited()).invitationId })],
    ['POST /organization/cancel-invitation', owner, { invitationId: 'none' }, '400 INVITATION_NOT_FOUND'],
    [
      'GET /organization/get-invitation',
      async () => {
        const { client, invitationId: id } = await newInvited();
        return [client, { id }];
      },
    ],
    ['GET /organization/get-invitation', owner, { id: 'none' }, '400 INVITATION_NOT_FOUND'],
    [
      'GET /organization/get-invitation-names',
      async () => {
        const { invitationId: id } = await newInvited();
        return [service.client(), { id }];
      },
    ],
    ['GET /organization/get-invitation-names', owner, { id: 'none' }, '400 INVITATION_NOT_FOUND'],
    ['GET /organization/list-invitations', owner, org()],
    ['GET /organization/list-invitations', stranger, org(), '403 FORBIDDEN'],
    ['GET /organization/list-user-invitations', async () => (await newInvited(true)).client],
    ['GET /organization/list-user-invitations', stranger, none, '403 EMAIL_VERIFICATION_REQUIRED_FOR_INVITATION'],
    ['POST /organization/create-team', owner, org({ name: 'Red' })],
    ['POST /organization/create-team', member, org({ name: 'Red' }), '403 YOU_ARE_NOT_ALLOWED_TO_CREATE_TEAMS_IN_THIS_ORGANIZATION'],
    ['GET /organization/list-teams', owner, org()],
    ['GET /organization/list-teams', stranger, org(), '403 YOU_ARE_NOT_ALLOWED_TO_ACCESS_THIS_ORGANIZATION'],
    ['POST /organization/update-team', owner, async () => ({ teamId: await newTeam(), data: { name: 'Green', organizationId } })],
    ['POST /organization/update-team', owner, async () => ({ teamId: 'none', data: { name: 'G', organizationId } }), '400 TEAM_NOT_FOUND'],
    ['POST /organization/remove-team', owner, async () => org({ teamId: await newTeam() })()],
    ['POST /organization/remove-team', owner, org({ teamId: 'none' }), '400 TEAM_NOT_FOUND'],
    ['POST /organization/set-active-team', inTeam],
    ['POST /organization/set-active-team', owner, { teamId: 'none' }, '400 TEAM_NOT_FOUND'],
    ['GET /organization/list-user-teams', async () => (await newTeamMember()).client],
    [
      'GET /organization/list-user-teams',
      owner,
      async () => someUser({ organizationId })(),
      '400 USER_IS_NOT_A_MEMBER_OF_THE_ORGANIZATION',
    ],
    ['GET /organization/list-team-members', inTeam],
    [
      'GET /organization/list-team-members',
      owner,
      async () => ({ teamId: (await newTeamMember()).teamId }),
      '403 USER_IS_NOT_A_MEMBER_OF_THE_TEAM',
    ],
    ['POST /organization/add-team-member', owner, ofNewMember],
    [
      'POST /organization/add-team-member',
      owner,
      async () => org({ teamId: await newTeam(), userId: 'none' })(),
      '400 USER_IS_NOT_A_MEMBER_OF_THE_ORGANIZATION',
    ],
    [
      'POST /organization/remove-team-member',
      owner,
      async () => {
        const { teamId, userId } = await newTeamMember();
        return { organizationId, teamId, userId };
      },
    ],
    ['POST /organization/remove-team-member', owner, ofNewMember, '400 USER_IS_NOT_A_MEMBER_OF_THE_TEAM'],

    ['GET /admin/list-users', admin, { limit: 2 }],
    ['GET /admin/list-users', owner, none, '403 YOU_ARE_NOT_ALLOWED_TO_LIST_USERS'],
    ['GET /admin/get-user', admin, async () => ({ id: (await newUser()).userId })],
    ['GET /admin/get-user', admin, { id: 'nobody' }, '404 USER_NOT_FOUND'],
    ['POST /admin/create-user', admin, { email: 'made@example.com', name: 'M', password, role: 'user' }],
    ['POST /admin/create-user', admin, { email: 'no address', name: 'M', password }, '400 INVALID_EMAIL'],
    ['POST /admin/update-user', admin, someUser({ data: { name: 'Other' } })],
    ['POST /admin/update-user', admin, { ...nobody, data: { name: 'Other' } }, '404 USER_NOT_FOUND'],
    ['POST /admin/set-role', admin, someUser({ role: 'user' })],
    ['POST /admin/set-role', stranger, { ...nobody, role: 'admin' }, '403 YOU_ARE_NOT_ALLOWED_TO_CHANGE_USERS_ROLE'],
    ['POST /admin/set-user-password', admin, someUser({ newPassword })],
    ['POST /admin/set-user-password', admin, { ...nobody, newPassword: 'short' }, '400 PASSWORD_TOO_SHORT'],
    ['POST /admin/ban-user', admin, someUser({ banReason: 'spam', banExpiresIn: 3600 })],
    ['POST /admin/ban-user', admin, nobody, '404 USER_NOT_FOUND'],
    ['POST /admin/unban-user', admin, someUser()],
    ['POST /admin/unban-user', admin, nobody, '404 USER_NOT_FOUND'],
    ['POST /admin/list-user-sessions', admin, someUser()],
    ['POST /admin/list-user-sessions', stranger, nobody, '403 YOU_ARE_NOT_ALLOWED_TO_LIST_USERS_SESSIONS'],
    [
      'POST /admin/revoke-user-session',
      admin,
      async (client) => {
        const { body } = await client.post('/admin/list-user-sessions', await someUser()());
        return { sessionToken: body.sessions[0].token };
      },
    ],
    ['POST /admin/revoke-user-session', stranger, { sessionToken: 'x' }, '403 YOU_ARE_NOT_ALLOWED_TO_REVOKE_USERS_SESSIONS'],
    ['POST /admin/revoke-user-sessions', admin, someUser()],
    ['POST /admin/revoke-user-sessions', stranger, nobody, '403 YOU_ARE_NOT_ALLOWED_TO_REVOKE_USERS_SESSIONS'],
    ['POST /admin/impersonate-user', newAdmin, someUser()],
    ['POST /admin/impersonate-user', admin, nobody, '404 USER_NOT_FOUND'],
    ['POST /admin/stop-impersonating', impersonating],
    ['POST /admin/stop-impersonating', owner, none, '400 BAD_REQUEST'],
    ['POST /admin/remove-user', admin, someUser()],
    ['POST /admin/remove-user', admin, nobody, '404 USER_NOT_FOUND'],
    ['POST /admin/has-permission', owner, { permissions: { user: ['ban'] } }],
    ['POST /admin/has-permission', owner, none, '400 VALIDATION_ERROR'],

    ['POST /subscription/upgrade', owner, paying({ plan: 'pro', ...urls })],
    ['POST /subscription/upgrade', owner, paying({ plan: 'gold', ...urls }), '400 SUBSCRIPTION_PLAN_NOT_FOUND'],
    ['GET /subscription/list', owner, paying()],
    ['GET /subscription/list', member, paying(), '403 FORBIDDEN'],
    ['POST /subscription/cancel', owner, () => subscribe().then(paying({ returnUrl }))],
    ['POST /subscription/cancel', owner, paying({ subscriptionId: 'none', returnUrl }), '400 SUBSCRIPTION_NOT_FOUND'],
    ['POST /subscription/restore', owner, () => subscribe({ cancelAtPeriodEnd: true }).then(paying())],
    ['POST /subscription/restore', owner, () => subscribe().then(paying()), '400 SUBSCRIPTION_NOT_PENDING_CHANGE'],
    ['POST /subscription/billing-portal', owner, paying({ returnUrl })],
    [
      'POST /subscription/billing-portal',
      owner,
      async () => ({ referenceId: await first.createOrganization(), returnUrl }),
      '404 CUSTOMER_NOT_FOUND',
    ],
    ['GET /subscription/success', owner, { callbackURL: webOrigin }],
    ['GET /subscription/success', owner, { callbackURL: evil }, '403 INVALID_CALLBACK_URL'],
    ['POST /stripe/webhook', stripeBy('whsec_test'), event],
    ['POST /stripe/webhook', stripeBy('whsec_other'), event, '400 FAILED_TO_CONSTRUCT_STRIPE_EVENT'],
    ['GET /ok', anonymous],
    ['GET /error', anonymous, { error: 'x' }],
  ];

  /** Sends the request of a case. */
  async function ask([endpoint, who, fields = {}]: Case): Promise<Answer> {
    const [method, pattern = ''] = endpoint.split(' ');
    const [asker, given] = [await who()].flat() as [Asker, object | undefined];
    const sent = typeof fields === 'function' ? await fields(asker) : fields;
    const all: Record<string, string> = { ...(typeof sent === 'string' ? {} : sent), ...given };
    const path = pattern.replace(/:(\w+)/, (_, name) => {
      const { [name]: value = 'provider_a' } = all;
      delete all[name];
      return value;
    });
    if (method === 'GET') return asker.get(`${path}?${typeof sent === 'string' ? sent : new URLSearchParams(all)}`);
    return typeof sent === 'string' ? asker.post(path, sent, { 'content-type': 'text/plain' }) : asker.post(path, all);
  }

  const doc = readIdentityDoc();

  for (const each of cases) {
    const [endpoint, , , refusal] = each;
    if (refusal === undefined)
      it(`${endpoint} takes a right request`, async () => {
        const answer = await ask(each);
        expect(answer.status, JSON.stringify(answer.body)).to.be.within(200, 399);
      });
    else
      it(`${endpoint} refuses a wrong one, with a code that docs/identity.md names`, async () => {
        const answer = await ask(each);
        expect(`${answer.status} ${answer.body.code}`, JSON.stringify(answer.body)).to.equal(refusal);
        expect(doc.errorsOf(endpoint), endpoint).to.include(refusal);
      });
  }

  it('is called here with a right request and a wrong one, unless there is none', () => {
    for (const { name } of listAuthEndpoints()) {
      const own = cases.filter(([endpoint]) => endpoint === name).map(([, , , refusal]) => refusal === undefined);
      expect([own.includes(true), own.includes(false)], name).to.deep.equal([!neverTaken.has(name), !neverRefused.has(name)]);
    }
  });
});
