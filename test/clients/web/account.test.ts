import { expect } from 'chai';
import { sql } from 'kysely';
import type { Page } from 'playwright-core';
import { totp } from '../../api/auth/support/totp.ts';
import { until } from '../../support/processes.ts';
import { noteTokens } from '../../support/run-secrets.ts';
import type { Tenant } from '../../support/tenants.ts';
import { untilLoaded } from './support/axe.ts';
import { act } from './support/row-menu.ts';
import { password, pathOf, useConsole } from './support/use-console.ts';

describe('A user of the console', () => {
  const { api, open, tenant } = useConsole();

  it('gives a document another name', async () => {
    const { id } = await api.upload(tenant, { name: 'scan0001.txt', bytes: 'The mirrors are washed in spring.' });
    const { page } = await open(pathOf(tenant, `documents/${id}`), { as: tenant.owner });
    await act(page, 'scan0001.txt', 'Rename');
    await page.getByRole('textbox', { name: 'Name' }).fill('mirrors.txt');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'mirrors.txt', level: 1 }).waitFor();
    await page.getByRole('link', { name: 'All documents' }).click();
    await page.getByRole('link', { name: 'mirrors.txt' }).waitFor();
  });

  it('takes another name and password, and ends the sessions of other browsers', async () => {
    const { page } = await open(pathOf(tenant, 'account'), { as: tenant.owner });
    await page.getByLabel('Your name').fill('Ada Lovelace');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();

    await page.getByLabel('Current password').fill('a wrong password');
    await page.getByLabel('New password').fill('another long password');
    await page.getByLabel('Sign out everywhere else').uncheck();
    await page.getByRole('button', { name: 'Change password' }).click();
    await page.getByText('Invalid password').waitFor();
    await page.getByLabel('Current password').fill(password);
    await page.getByRole('button', { name: 'Change password' }).click();
    await page.getByText('The password is changed.').waitFor();

    expect((await me()).body).to.include({ name: 'Ada Lovelace' });
    await page.getByRole('row', { name: /Chrome, Linux \(this one\)/ }).waitFor();
    // Addresses of IPv6 are kept without the half that names the machine.
    for (const [ipAddress, shown] of [
      ['0000:0000:0000:0000:0000:0000:0000:0000', 'localhost'],
      ['2001:0db8:0001:0002:0000:0000:0000:0000', '2001:db8:1:2::'],
    ] as const) {
      await sql`update session set "ipAddress" = ${ipAddress} where "userId" = ${tenant.owner.id}`.execute(api.database.db);
      await page.reload();
      await page.getByRole('cell', { name: shown, exact: true }).first().waitFor();
    }
    const phone = 'Mozilla/5.0 (Linux; Android 10; K) Chrome/131.0.0.0 Mobile Safari/537.36 EdgA/131.0.0.0';
    await sql`update session set "userAgent" = ${phone} where "userId" = ${tenant.owner.id}`.execute(api.database.db);
    await page.reload();
    await page.getByRole('row', { name: 'Microsoft Edge, Android (this one)' }).waitFor();
    await page.getByRole('button', { name: 'End all others' }).click();
    await until(async () => (await me()).status === 401);
    await until(async () => (await page.getByRole('row').count()) === 2);
    const { body } = await api.request('POST', '/api/auth/sign-in/email', { body: { email: tenant.owner.email, password } });
    expect(body.code).to.equal('INVALID_EMAIL_OR_PASSWORD');
  });

  it('goes to a page by a part of its name', async () => {
    const other = await api.createTenant();
    const { page } = await open(pathOf(other, 'documents'), { as: other.owner });
    await page.getByRole('heading', { name: 'Documents', exact: true }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog').getByRole('combobox').fill('jo');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Jobs', exact: true }).waitFor();
  });

  const me = () => api.request('GET', '/api/v1/me', { token: tenant.owner.token });

  describe('Signing in to the console with two-factor', () => {
    let tenant: Tenant;
    before(async () => {
      tenant = await api.createTenant();
    });

    it('asks for the code after the password, takes a backup code, and begins again after five wrong ones', async () => {
      const post = (path: string, body: object) => api.request('POST', `/api/auth/two-factor/${path}`, { token: tenant.owner.token, body });
      const { totpURI, backupCodes } = (await post('enable', { password })).body;
      noteTokens(new URL(totpURI).searchParams.get('secret') ?? '', ...backupCodes);
      await post('verify-totp', { code: totp(totpURI) });
      for (const code of [() => totp(totpURI, 1), () => backupCodes[0]]) {
        const { page } = await open('/sign-in');
        await page.getByLabel('Email address').fill(tenant.owner.email);
        await page.getByRole('textbox', { name: 'Password' }).fill(password);
        await page.getByRole('button', { name: 'Sign in' }).click();
        await page.getByLabel('Code').fill('000');
        await page.getByRole('button', { name: 'Sign in' }).click();
        await page.getByText('Invalid backup code').waitFor();
        await page.getByLabel('Code').fill(code());
        await page.getByRole('button', { name: 'Sign in' }).click();
        await page.getByRole('heading', { name: 'Documents', exact: true }).waitFor();
      }

      const { page } = await open('/sign-in', { locale: 'de-DE' });
      const signIn = page.getByRole('button', { name: 'Anmelden' });
      const begin = async () => {
        await page.getByLabel('E-Mail-Adresse').fill(tenant.owner.email);
        await page.getByRole('textbox', { name: 'Passwort' }).fill(password);
        await signIn.click();
      };
      await begin();
      for (let wrong = 1; wrong <= 6; wrong += 1) {
        await page.getByLabel('Code').fill('000000');
        const answered = page.waitForResponse('**/two-factor/verify-totp');
        await signIn.click();
        await answered;
      }
      // No code is taken any more: there is a way back to the password.
      await page.getByRole('alert').getByText('Fünf Codes waren falsch').waitFor();
      await signIn.click();
      await begin();
      await page.getByLabel('Code').fill(backupCodes[1]);
      await signIn.click();
      await page.getByRole('heading', { name: 'Dokumente', exact: true }).waitFor();
    });
  });

  describe('The console in German', () => {
    let tenant: Tenant;
    before(async () => {
      tenant = await api.createTenant();
    });

    it('is what a German browser gets, with its dates and numbers', async () => {
      await api.upload(tenant, { name: 'notiz.txt', bytes: 'Die Spiegel werden im Frühling gewaschen. '.repeat(40) });
      const { page, complaints } = await open('/sign-in', { locale: 'de-DE' });
      await page.getByRole('heading', { name: 'Anmelden' }).waitFor();
      expect(await page.evaluate('document.documentElement.lang')).to.equal('de');
      await page.getByLabel('E-Mail-Adresse').fill(tenant.owner.email);
      await page.getByRole('textbox', { name: 'Passwort' }).fill('ein falsches Passwort');
      await page.getByRole('button', { name: 'Anmelden' }).click();
      await page.getByText('E-Mail-Adresse oder Passwort ist falsch.').waitFor();
      await page.getByRole('textbox', { name: 'Passwort' }).fill(password);
      await page.getByRole('button', { name: 'Anmelden' }).click();

      const row = page.getByRole('row', { name: /notiz\.txt Gespeichert 1,7 kB (jetzt|vor \d+ (Sekunde|Minute)n?)/ });
      await row.waitFor();
      expect(await row.locator('time').getAttribute('title')).to.match(/^\d\d\.\d\d\.\d{4}, \d\d:\d\d:\d\d$/);
      await page.getByRole('link', { name: 'Nutzung' }).click();
      await page.getByText(/^01\.\d\d\.\d{4} bis (28|29|30|31)\.\d\d\.\d{4}$/).waitFor();
      expect(complaints.filter((each) => !each.includes('401'))).to.deep.equal([]);
    });

    it('can be chosen, and stays until another language is', async () => {
      const { page } = await open(pathOf(tenant, 'jobs'), { as: tenant.owner });
      await chooseGerman(page);
      await page.getByRole('heading', { name: 'Noch keine Jobs' }).waitFor();
      await page.goto(`${api.url}/sign-up`);
      await page.getByRole('heading', { name: 'Konto erstellen' }).waitFor();
      await page.getByRole('button', { name: 'English' }).click();
      await page.getByRole('heading', { name: 'Create an account' }).waitFor();
      expect(await page.evaluate('document.documentElement.lang')).to.equal('en');
    });

    it('is asked about while a file is sent, which the change would end', async () => {
      const { page } = await open(pathOf(tenant, 'documents'), { as: tenant.owner });
      let letGo = () => {};
      const held = new Promise<void>((resolve) => (letGo = resolve));
      await page.route('**/uploads/**', (route) => held.then(() => route.continue()));
      const file = { name: 'held.txt', mimeType: 'text/plain', buffer: Buffer.from('The mirrors are washed in spring.') };
      await page.locator('input[type=file]').setInputFiles(file);
      const uploads = page.getByRole('region', { name: 'Uploads' });
      await uploads.getByRole('button', { name: 'Cancel the upload of held.txt' }).waitFor();
      const asked = page.waitForEvent('dialog');
      const clicked = chooseGerman(page);
      const dialog = await asked;
      expect(dialog.type()).to.equal('beforeunload');
      await dialog.dismiss();
      await clicked;
      letGo();
      await uploads.getByText('Stored', { exact: true }).waitFor();
      await chooseGerman(page);
      await page.getByRole('heading', { name: 'Dokumente' }).waitFor();
    });

    // What axe objects to is the same in each language, which test/clients/web/accessible.test.ts looks for.
    it('has nothing beyond the edge of a narrow window', async () => {
      const { page } = await open('/sign-in', { locale: 'de-DE', viewport: { width: 390, height: 800 }, as: tenant.owner });
      const own = ['documents', 'jobs', 'search', 'ask', 'usage', 'members', 'workspaces', 'api-keys', 'audit', 'plan', 'account'];
      for (const path of ['/sign-in', '/sign-up', '/start', ...own.map((each) => pathOf(tenant, each))]) {
        await page.goto(api.url + path);
        await page.getByRole('heading', { level: 1 }).waitFor();
        await untilLoaded(page);
        expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), path).to.be.at.most(0);
      }
    });
  });
});

/** By the menu of the account. */
async function chooseGerman(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^Account/ }).click();
  await page.getByRole('menuitem', { name: 'Deutsch' }).click();
}
