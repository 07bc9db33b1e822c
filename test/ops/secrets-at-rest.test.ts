import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { sql } from 'kysely';
import { createSecretBox } from '../../domain/secret-box.ts';
import { addEndpoint, call, deliveryIn, verifies, webhooksOn } from '../adapters/webhooks/support.ts';
import { Client } from '../api/auth/support/client.ts';
import { type OidcProvider, startOidcProvider } from '../api/auth/support/oidc-provider.ts';
import { startTestApi, type Tenant, type TestApi } from '../support/api.ts';
import { opsResult } from '../support/ops.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';

const registered = { id: 'the-client', secret: 'the-secret' };
const refreshToken = 'a-refresh-token';

describe('Secrets in the database and its backups', () => {
  let api: TestApi;
  let tenant: Tenant;
  let provider: OidcProvider;
  let receiver: Receiver;
  let client: Client;
  let accountId: string;

  before(async () => {
    provider = await startOidcProvider(registered);
    const { issuer: PROVIDER_B_ISSUER } = provider;
    const settings = { PROVIDER_B_ISSUER, PROVIDER_B_CLIENT_ID: registered.id, PROVIDER_B_CLIENT_SECRET: registered.secret };
    api = await startTestApi({ env: { ...webhooksOn, ...settings } });
    receiver = await startReceiver();
    tenant = await api.createTenant();
    await signIn();
  });
  after(async () => {
    await receiver.stop();
    await api.stop();
    await provider.stop();
  });

  async function signIn(): Promise<void> {
    provider.profile = { sub: 'user-1', email: 'one@example.com', email_verified: true, name: 'One' };
    client = new Client(api.url, () => Promise.reject(new Error('It signs in at the provider.')));
    const begun = await client.post('/sign-in/social', { provider: 'provider_b', callbackURL: 'http://localhost:5173/' });
    const back = (await fetch(begun.body.url, { redirect: 'manual' })).headers.get('location') ?? '';
    await client.get(back.slice(back.indexOf('/callback/')));
    accountId = (await client.get('/list-accounts')).body[0].id;
  }
  const tokensOf = async () => (await client.post('/get-access-token', { accountId })).body;
  const sendTest = async (id: string) => {
    receiver.received.length = 0;
    await call(api, tenant, 'POST', `/webhooks/${id}/test`);
    await deliveryIn(api, tenant, id, 'delivered');
    return receiver.received[0];
  };

  it('are in neither: those of webhooks, private keys, and tokens of providers', async () => {
    const first = await addEndpoint(api, tenant, { url: receiver.url });
    const rotated = await call(api, tenant, 'POST', `/webhooks/${first.id}/rotate-secret`, {});
    await addEndpoint(api, tenant, { url: receiver.url, signature: 'v1a' });
    const { accessToken, idToken } = await tokensOf();
    expect(accessToken).to.equal('an-access-token');

    const directory = join(api.stack.dataDir, 'backup');
    mkdirSync(directory);
    await opsResult(['backup', directory], api.stack.env);
    const tables = readdirSync(join(directory, 'tables')).map((name) => readFileSync(join(directory, 'tables', name), 'utf8'));
    const dump = tables.join('\n');

    expect(dump).to.include(first.id);
    for (const secret of [first.secret, rotated.secret, accessToken, idToken]) expect(dump).to.not.include(secret.slice(-20));
    expect(dump).to.not.match(/whsec_|whsk_/);
    const sent = await sendTest(first.id);
    expect(sent && [first.secret, rotated.secret].map((secret) => verifies(secret, sent))).to.deep.equal([true, true]);
  });

  it('are read if an earlier version stored them in clear, and sealed by the daily housekeeping', async () => {
    const { db } = api.database;
    const { id } = await addEndpoint(api, tenant, { url: receiver.url });
    const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
    await sql`update webhook_endpoint set secret = ${secret} where id = ${id}`.execute(db);
    await sql`update account set "accessToken" = 'clear', "refreshToken" = ${refreshToken}, "idToken" = null where id = ${accountId}`.execute(
      db,
    );
    const sent = await sendTest(id);
    expect(sent && verifies(secret, sent)).to.equal(true);
    expect((await tokensOf()).accessToken).to.equal('clear');

    const options = { taskQueue: 'sheaf', workflowId: 'housekeeping-of-secrets', args: [] };
    const { sealedSecrets } = await api.temporal.client.workflow.execute('housekeeping', options);

    expect(sealedSecrets).to.equal(2);
    const { rows } = await sql`select secret as stored from webhook_endpoint union all select previous_secret from webhook_endpoint
      union all select unnest(array["accessToken", "refreshToken", "idToken"]) from account`.execute(db);
    const stored = rows.flatMap(({ stored }: any) => stored ?? []);
    expect(stored).to.have.length.above(4);
    for (const each of stored) expect(each).to.match(/^sealed\.1\./);
    const again = await sendTest(id);
    expect(again && verifies(secret, again)).to.equal(true);
    expect((await tokensOf()).accessToken).to.equal('clear');
    expect((await client.post('/refresh-token', { accountId })).body).to.include({ accessToken: 'the-next-access-token' });
  });

  it('of a provider are missing after a new AUTH_SECRET, until the user signs in there again', async () => {
    const lost = createSecretBox(randomBytes(32)).seal('lost');
    const { db } = api.database;
    await sql`update account set "accessToken" = ${lost}, "refreshToken" = ${lost}, "idToken" = ${lost} where id = ${accountId}`.execute(
      db,
    );
    expect((await client.get('/list-accounts')).body).to.have.length(1);
    await signIn();
    expect((await tokensOf()).accessToken).to.equal('an-access-token');
  });
});
