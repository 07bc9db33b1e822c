import { expect } from 'chai';
import { sql } from 'kysely';
import { addEndpoint, call, deliveryIn, verifies, webhooksOn } from '../../adapters/webhooks/support.ts';
import { nightly } from '../../support/nightly.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { expectOk } from '../../support/requests.ts';
import { noteTokens } from '../../support/run-secrets.ts';
import { useApi } from '../../support/use-api.ts';
import { totp } from './support/totp.ts';

describe('Two values of AUTH_SECRET', () => {
  const { api, tenant } = useApi({ process: true, env: webhooksOn });
  let receiver: Receiver;
  before(async () => {
    receiver = await startReceiver();
  });
  after(() => receiver.stop());

  const next = 'the-next-secret-of-this-deployment-0123456789';
  const password = 'a long password';
  const auth = (method: string, path: string, body?: object, headers: Record<string, string> = {}) =>
    api.request(method, `/api/auth${path}`, { headers, ...(body && { body }) });
  const restart = (env: Record<string, string>) => api.stack.restart('api', { ...webhooksOn, ...env });

  nightly('keep sessions, second factors, cursors, signed links and stored secrets, until the old one is taken away', async () => {
    const { token } = tenant.owner;
    const present = api.stack.env.AUTH_SECRET ?? '';
    noteTokens(next);
    const bearer = () => api.request('GET', '/api/v1/me', { token });
    const cookie = { cookie: `better-auth.session_token=${token}` };
    const session = () => auth('GET', '/get-session', undefined, cookie);
    for (const name of ['a.txt', 'b.txt']) await api.upload(tenant, { name, bytes: 'text' });
    const list = (more = '') =>
      api.request('GET', `/api/v1/workspaces/${tenant.workspaceId}/documents?organizationId=${tenant.organizationId}&limit=1${more}`, {
        token,
      });
    const { nextCursor } = (await expectOk(list())).body;
    const file = { workspaceId: tenant.workspaceId, name: 'c.txt', contentType: 'text/plain', size: 4 };
    const { upload } = (await expectOk(api.request('POST', '/api/v1/documents', { token, body: file }))).body;
    const endpoint = await addEndpoint(api, tenant, { url: receiver.url });
    const email = 'secured@example.com';
    const user = await expectOk(auth('POST', '/sign-up/email', { email, password, name: 'Ada' }));
    const own = { authorization: `Bearer ${user.headers.get('set-auth-token')}` };
    const { body: factor } = await expectOk(auth('POST', '/two-factor/enable', { password }, own));
    noteTokens(new URL(factor.totpURI).searchParams.get('secret') ?? '', ...factor.backupCodes);
    await expectOk(auth('POST', '/two-factor/verify-totp', { code: totp(factor.totpURI) }, own));
    const signIn = async () => {
      await sql`update "twoFactor" set "lastStep" = 0`.execute(api.database.db);
      const begun = await expectOk(auth('POST', '/sign-in/email', { email, password }));
      const asked = begun.headers.getSetCookie().map((each) => each.split(';')[0]);
      return (await auth('POST', '/two-factor/verify-totp', { code: totp(factor.totpURI) }, { cookie: asked.join('; ') })).status;
    };
    const sendTest = async () => {
      receiver.received.length = 0;
      await call(api, tenant, 'POST', `/webhooks/${endpoint.id}/test`);
      await deliveryIn(api, tenant, endpoint.id, 'delivered');
      const [sent] = receiver.received;
      return sent && verifies(endpoint.secret, sent);
    };
    expect([await signIn(), await sendTest()]).to.deep.equal([200, true]);

    await restart({ AUTH_SECRET: next, AUTH_SECRET_PREVIOUS: present });
    expect((await bearer()).status).to.equal(200);
    expect((await session()).body.user.id).to.equal(tenant.owner.id);
    expect((await list(`&cursor=${nextCursor}`)).status).to.equal(200);
    expect((await fetch(upload.url, { method: 'PUT', headers: upload.headers, body: 'text' })).status).to.equal(200);
    expect([await signIn(), await sendTest()]).to.deep.equal([200, true]);
    // A session that is used for a day gets a cookie of the new one.
    await sql`update session set ("expiresAt", "createdAt") = ("createdAt" + interval '5 days', "createdAt" - interval '2 days') where "userId" = ${tenant.owner.id}`.execute(
      api.database.db,
    );
    const extended = await api.request('GET', '/api/v1/me', { headers: cookie });
    const renewed = extended.headers.getSetCookie()[0]?.split(';')[0] ?? '';
    expect(renewed).to.match(/^better-auth\.session_token=/);
    expect(renewed).not.to.equal(cookie.cookie);
    const options = { taskQueue: 'sheaf', workflowId: 'housekeeping-of-secrets', args: [] };
    expect(await api.temporal.client.workflow.execute('housekeeping', options)).to.include({ sealedSecrets: 2 });

    await restart({ AUTH_SECRET: next });
    expect((await bearer()).status).to.equal(401);
    expect((await api.request('GET', '/api/v1/me', { headers: { cookie: renewed } })).status).to.equal(200);
    noteTokens(renewed.split('=')[1] ?? '');
    tenant.owner.token = decodeURIComponent(renewed.split('=')[1] ?? '');
    expect(await sendTest()).to.equal(true);
    expect(await signIn()).to.equal(200);
    const [code] = factor.backupCodes;
    const begun = await expectOk(auth('POST', '/sign-in/email', { email, password }));
    const asked = begun.headers.getSetCookie().map((each) => each.split(';')[0]);
    await expectOk(auth('POST', '/two-factor/verify-backup-code', { code }, { cookie: asked.join('; ') }));
  });
});
