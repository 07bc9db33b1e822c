import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { untilLoaded, violationsOf } from './support/axe.ts';
import { password, pathOf, useConsole } from './support/use-console.ts';

describe('The console in German', () => {
  const { api, open, tenant } = useConsole();

  it('is what a German browser gets, with its dates and numbers', async () => {
    await api.upload(tenant, { name: 'notiz.txt', bytes: 'Die Spiegel werden im Frühling gewaschen. '.repeat(40) });
    const { page, complaints } = await open('/sign-in', { locale: 'de-DE' });
    await page.getByRole('heading', { name: 'Anmelden' }).waitFor();
    expect(await page.evaluate('document.documentElement.lang')).to.equal('de');
    await page.getByLabel('E-Mail-Adresse').fill(tenant.owner.email);
    await page.getByRole('textbox', { name: 'Passwort' }).fill('ein falsches Passwort');
    await page.getByRole('button', { name: 'Anmelden' }).click();
    // What the service says stays in its own words.
    await page.getByText('Invalid email or password').waitFor();
    await page.getByRole('textbox', { name: 'Passwort' }).fill(password);
    await page.getByRole('button', { name: 'Anmelden' }).click();

    const row = page.getByRole('row', { name: /notiz\.txt Gespeichert 1,7 kB (jetzt|vor \d+ (Sekunde|Minute)n?)/ });
    await row.waitFor();
    expect(await row.locator('time').getAttribute('title')).to.match(/^\d\d\.\d\d\.\d{4}, \d\d:\d\d:\d\d$/);
    await page.getByRole('link', { name: 'Nutzung' }).click();
    await page.getByText(/^01\.\d\d\.\d{4} bis 01\.\d\d\.\d{4}$/).waitFor();
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

  for (const width of [1280, 390])
    it(`has nothing that axe objects to, ${width} px wide, and nothing beyond the edge`, async () => {
      const { page } = await open('/sign-in', { locale: 'de-DE', viewport: { width, height: 800 }, as: tenant.owner });
      const own = ['documents', 'jobs', 'search', 'ask', 'usage', 'members', 'workspaces', 'api-keys', 'audit', 'plan', 'account'];
      for (const path of ['/sign-in', '/sign-up', '/start', ...own.map((each) => pathOf(tenant, each))]) {
        await page.goto(api.url + path);
        await page.getByRole('heading', { level: 1 }).waitFor();
        await untilLoaded(page);
        expect(await violationsOf(page), path).to.deep.equal([]);
        expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), path).to.be.at.most(0);
      }
    });
});

/** By the menu of the account. */
async function chooseGerman(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^Account/ }).click();
  await page.getByRole('menuitem', { name: 'Deutsch' }).click();
}
