import { expect } from 'chai';
import { generate } from 'lean-qr';
import { toSvgPath } from 'lean-qr/extras/svg';
import type { Page } from 'playwright-core';
import { type OidcProvider, startOidcProvider } from '../../api/auth/support/oidc-provider.ts';
import { totp } from '../../api/auth/support/totp.ts';
import { expectOk } from '../../support/requests.ts';
import { noteTokens } from '../../support/run-secrets.ts';
import { type MailServer, startMailServer } from '../../support/smtp.ts';
import type { Tenant } from '../../support/tenants.ts';
import { violationsOf } from './support/axe.ts';
import { mailLink } from './support/mail-link.ts';
import { password, pathOf, useConsole } from './support/use-console.ts';

describe('The own account in the console', () => {
  let mailServer: MailServer;
  let provider: OidcProvider;
  const { api, open } = useConsole(async () => {
    mailServer = await startMailServer();
    provider = await startOidcProvider({ id: 'the-client', secret: 'the-secret' });
    return {
      SMTP_URL: mailServer.url,
      EMAIL_FROM: 'sheaf@example.com',
      PROVIDER_A_ISSUER: provider.issuer,
      PROVIDER_A_CLIENT_ID: 'the-client',
      PROVIDER_A_CLIENT_SECRET: 'the-secret',
    };
  });
  after(() => Promise.all([mailServer.stop(), provider.stop()]));

  const openAccount = (tenant: Tenant, options = {}) => open(pathOf(tenant, 'account'), { as: tenant.owner, ...options });
  const confirm = (tenant: Tenant) =>
    api.database.db.updateTable('user').set({ emailVerified: true }).where('id', '=', tenant.owner.id).execute();

  it('gets another address once both are confirmed', async () => {
    const tenant = await api.createTenant();
    const { email } = tenant.owner;
    const { page } = await openAccount(tenant);
    const section = page.getByRole('region', { name: 'Email address' });
    await section.getByRole('button', { name: 'Send the mail', exact: true }).click();
    await section.getByRole('button', { name: 'The mail was sent.' }).waitFor();
    await page.goto(api.url + (await mailLink(mailServer, email, /Confirm your email/)));
    await page.getByText('Your address is confirmed.').waitFor();

    await page.goto(api.url + pathOf(tenant, 'account'));
    await section.getByLabel('New email address').fill(`new-${email}`);
    await section.getByRole('button', { name: 'Change address' }).click();
    await section.getByText('A mail is on its way to your present address.').waitFor();
    await page.goto(api.url + (await mailLink(mailServer, email, /Confirm the change/)));
    await section.getByText('open the mail that is on its way to the new one').waitFor();
    await section.getByText(`Your address is ${email}.`).waitFor();
    const last = await mailLink(mailServer, `new-${email}`, /Confirm your new/);
    await page.goto(api.url + last);
    await section.getByText(`Your address is new-${email}.`).waitFor();
    await page.goto(api.url + last);
    await page.getByText('The server refused this (INVALID_TOKEN).').waitFor();
  });

  it('says in a browser where nobody is signed in, too, how the links of another address have ended', async () => {
    const [tenant, other] = [await api.createTenant(), await api.createTenant()];
    await confirm(tenant);
    const body = { newEmail: other.owner.email, callbackURL: pathOf(tenant, 'account?said=email') };
    await expectOk(api.request('POST', '/api/auth/change-email', { token: tenant.owner.token, body }));
    const { page } = await open(await mailLink(mailServer, tenant.owner.email, /Confirm the change/));
    await page.getByText('open the mail that is on its way to the new one').waitFor();
    await page.goto(api.url + (await mailLink(mailServer, other.owner.email, /Confirm your new/)));
    await page.getByText('The link did not work (USER_ALREADY_EXISTS_USE_ANOTHER_EMAIL).').waitFor();
  });

  it('turns on two-factor on a phone, gets other backup codes, and turns it off', async () => {
    const tenant = await api.createTenant();
    const { page } = await openAccount(tenant, { viewport: { width: 390, height: 800 }, colorScheme: 'dark' });
    const section = page.getByRole('region', { name: 'Two-factor' });
    const dialog = page.getByRole('dialog');
    await section.getByRole('button', { name: 'Turn on' }).click();
    await dialog.locator('input[name=password]:focus').waitFor();
    await dialog.getByRole('textbox', { name: 'Current password' }).fill('a wrong password');
    await dialog.getByRole('button', { name: 'Go on' }).click();
    await dialog.getByText('Invalid password').waitFor();
    await dialog.getByRole('textbox', { name: 'Current password' }).fill(password);
    const begun = page.waitForResponse('**/two-factor/enable');
    await dialog.getByRole('button', { name: 'Go on' }).click();
    const { totpURI } = (await (await begun).json()) as { totpURI: string };

    const picture = dialog.getByRole('img', { name: 'QR code for an authenticator app' });
    await picture.waitFor();
    const secret = (await dialog.locator('pre').textContent()) ?? '';
    noteTokens(secret);
    expect(new URL(totpURI).searchParams.get('secret')).to.equal(secret);
    expect(await picture.locator('path').getAttribute('d')).to.equal(toSvgPath(generate(totpURI)));
    expect(await violationsOf(page)).to.deep.equal([]);
    await dialog.getByRole('textbox', { name: 'Code' }).fill('000 000');
    await dialog.getByRole('button', { name: 'Turn on' }).click();
    await dialog.getByText('Invalid code').waitFor();
    await dialog.getByRole('textbox', { name: 'Code' }).fill(totp(totpURI));
    await dialog.getByRole('button', { name: 'Turn on' }).click();
    const first = await readCodes(page);
    expect(first).to.have.length(10);

    await section.getByText('It is on').waitFor();
    await section.getByRole('button', { name: 'New backup codes' }).click();
    await dialog.getByRole('textbox', { name: 'Current password' }).fill(password);
    await dialog.getByRole('button', { name: 'Create' }).click();
    expect(await readCodes(page))
      .to.have.length(10)
      .and.not.include.members(first);
    expect((await signIn(tenant)).body).to.include({ twoFactorRedirect: true });

    await section.getByRole('button', { name: 'Turn off' }).click();
    await dialog.getByRole('textbox', { name: 'Current password' }).fill('a wrong password');
    await dialog.getByRole('button', { name: 'Turn off' }).click();
    await dialog.getByText('Invalid password').waitFor();
    await dialog.getByRole('textbox', { name: 'Current password' }).fill(password);
    await dialog.getByRole('button', { name: 'Turn off' }).click();
    await section.getByText('It is off.').waitFor();
    expect((await signIn(tenant)).body.token).to.be.a('string');
  });

  it('connects a provider and lets go of it, and says why it cannot', async () => {
    const tenant = await api.createTenant();
    await confirm(tenant);
    provider.profile = { sub: tenant.owner.id, email: tenant.owner.email, email_verified: false };
    const { page } = await openAccount(tenant);
    const connect = page.getByRole('button', { name: 'Connect provider A', exact: true });
    await connect.click();
    await page.getByText(/The server refused this \(\w+\)\./).waitFor();
    provider.profile.email_verified = true;
    await connect.click();
    await page.getByRole('button', { name: 'Disconnect provider A' }).click();
    await connect.waitFor();
  });

  it('says what a provider has refused, and still goes on where it should', async () => {
    const tenant = await api.createTenant();
    const { email } = tenant.owner;
    provider.profile = { sub: tenant.owner.id, email, email_verified: false };
    const { page } = await open(pathOf(tenant, 'usage'));
    const byProvider = page.getByRole('button', { name: 'Continue with provider A' });
    await byProvider.click();
    await page.getByText(`There is an account with this address already. Sign in with its password, then connect the provider`).waitFor();
    await api.database.db.updateTable('user').set({ banned: true }).where('id', '=', tenant.owner.id).execute();
    provider.profile.email_verified = true;
    await byProvider.click();
    await page.getByText('Signing in by the provider did not work (BANNED_USER).').waitFor();
    await api.database.db.updateTable('user').set({ banned: false }).where('id', '=', tenant.owner.id).execute();
    await byProvider.click();
    await page.waitForURL(`**${pathOf(tenant, 'usage')}`);
  });

  it('is deleted once the address is typed, but not while an organization would have no owner', async () => {
    const tenant = await api.createTenant();
    const { email, id } = tenant.owner;
    const { page } = await openAccount(tenant);
    const dialog = page.getByRole('dialog');
    const send = () => dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Delete account' }).click();
    await dialog.getByLabel('Type your email address').fill('another@example.com');
    await dialog.getByRole('textbox', { name: 'Current password' }).fill(password);
    await send();
    expect(await dialog.locator(':invalid').count()).to.be.above(0);
    await dialog.getByLabel('Type your email address').fill(email);
    await send();
    await dialog.getByText('An organization needs an owner').waitFor();
    expect(await violationsOf(page)).to.deep.equal([]);

    const other = await api.signUp();
    await api.addMember(tenant.organizationId, other, 'owner');
    await send();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.getByText('Your account is deleted.').waitFor();
    expect(await api.database.db.selectFrom('user').where('id', '=', id).execute()).to.deep.equal([]);
  });

  const signIn = ({ owner: { email } }: Tenant) => api.request('POST', '/api/auth/sign-in/email', { body: { email, password } });
});

/** The codes of the dialog that shows them once, which is then closed. */
async function readCodes(page: Page): Promise<string[]> {
  const dialog = page.getByRole('dialog', { name: 'Your backup codes' });
  const codes = ((await dialog.locator('pre:focus').textContent()) ?? '').split('\n');
  noteTokens(...codes);
  await dialog.getByRole('button', { name: 'Done' }).click();
  await dialog.waitFor({ state: 'detached' });
  return codes;
}
