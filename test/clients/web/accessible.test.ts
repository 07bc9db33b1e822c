import { expect } from 'chai';
import type { Page } from 'playwright-core';
import type { TestUser } from '../../support/api.ts';
import { expectOk } from '../../support/requests.ts';
import { noteTokens } from '../../support/run-secrets.ts';
import { untilLoaded, violationsOf } from './support/axe.ts';
import { pathOf, useConsole } from './support/use-console.ts';

describe('The pages of the console, for everybody', () => {
  const { api, open, tenant } = useConsole({ WEBHOOKS_ENABLED: 'true' });
  let documentId: string;
  let endpointId: string;
  let jobId: string;
  let admin: TestUser;

  before(async () => {
    const { token } = tenant.owner;
    await api.makePlatformAdmin(tenant.owner);
    const note = await api.upload(tenant, { name: 'note.txt', bytes: 'The mirrors are washed in spring.' });
    documentId = note.id;
    await expectOk(api.request('PATCH', `/api/v1/documents/${note.id}`, { token, body: { tags: ['care'], metadata: { year: 2026 } } }));
    admin = await api.signUp('Platform Admin');
    await api.makePlatformAdmin(admin);
    await expectOk(api.request('PUT', '/api/v1/admin/flags/search.rerank', { token: admin.token, body: { enabled: true } }));
    const broken = await api.upload(tenant, { name: 'broken.pdf', contentType: 'application/pdf', bytes: 'no PDF at all' });
    for (const [kind, id] of [
      ['document.index', note.id],
      ['document.extract', broken.id],
    ]) {
      const { body } = await api.request('POST', '/api/v1/jobs', { token, body: { kind, documentId: id } });
      await api.jobIn(token, body.id, ['succeeded', 'failed']);
      jobId = body.id;
    }
    const { organizationId } = tenant;
    const make = async (path: string, body: object) => (await expectOk(api.request('POST', path, { token: token, body }))).body;
    const endpoint = { organizationId, url: 'https://hooks.example.com/a', events: ['job.failed'], enabled: false };
    endpointId = (await make('/api/v1/webhooks', endpoint)).id;
    const key = await make('/api/v1/api-keys', { organizationId, name: 'Nightly import', permissions: ['job:read'] });
    noteTokens(key.secret);
    await make('/api/auth/organization/invite-member', { organizationId, email: 'grace@example.com', role: 'member' });
  });

  const pages = {
    'of nobody': () => ['/sign-in', '/sign-up', '/forgot-password', '/reset-password?token=a', '/two-factor', '/accept-invitation/a'],
    'of documents': () => [
      ...['documents?tags=care', `documents/${documentId}?start=4&end=11`, 'jobs', `jobs/${jobId}`, 'search?q=mirrors', 'usage'].map(own),
      own('ask?q=When+are+the+mirrors+washed%3F&key=the-same-answer'),
    ],
    'of an organization': () => [
      ...['members', 'workspaces', 'api-keys', 'webhooks', `webhooks/${endpointId}`, 'audit', 'plan', 'mailbox', 'account'].map(own),
      ...['/start', '/o/a/b/documents'],
    ],
    'of platform admins': () => ['system', 'organizations', 'users', 'flags'].map((each) => `/admin/${each}`),
  };
  const own = (path: string) => pathOf(tenant, path);
  // Each color and each width once, on every other page, and in German on the pages between; each night all four on all.
  const looks: { colorScheme: 'light' | 'dark'; width: number }[] = [
    { colorScheme: 'light', width: 1440 },
    { colorScheme: 'dark', width: 390 },
  ];
  if (process.env.TEST_NIGHTLY) looks.push({ colorScheme: 'light', width: 390 }, { colorScheme: 'dark', width: 1440 });

  const runs = Object.entries(pages).flatMap(([name, paths]) => ['en', 'de'].map((locale, shift) => ({ name, paths, locale, shift })));
  for (const { name, paths, locale, shift } of runs)
    it(`${name}, in ${locale}, have nothing that axe objects to, and nothing beyond the edge, light and dark, wide and narrow`, async () => {
      const as = name === 'of platform admins' ? admin : tenant.owner;
      const { page } = await open('/sign-in', name === 'of nobody' ? { locale } : { as, locale });
      for (const [index, path] of paths().entries()) {
        await page.goto(api.url + path);
        await page.getByRole('heading', { level: 1 }).waitFor();
        for (const { colorScheme, width } of looks.filter((_, place) => process.env.TEST_NIGHTLY || place === (index + shift) % 2)) {
          await page.emulateMedia({ colorScheme });
          await page.setViewportSize({ width, height: 800 });
          await untilLoaded(page);
          await untilDrawn(page);
          const look = `${path}, ${locale}, ${colorScheme}, ${width} px`;
          expect(await page.locator('html').getAttribute('lang'), look).to.equal(locale);
          expect(await page.locator('html').getAttribute('data-mantine-color-scheme'), look).to.equal(colorScheme);
          expect(await violationsOf(page), look).to.deep.equal([]);
          expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), look).to.be.at.most(0);
        }
      }
    });

  it('call the buttons beside an error by what is written on them', async () => {
    const other = await api.createTenant();
    const suspension = `/api/v1/admin/organizations/${other.organizationId}/suspension`;
    await expectOk(api.request('PUT', suspension, { token: admin.token, body: { reason: 'The invoice is not paid.' } }));
    for (const locale of ['en', 'de']) {
      const { page } = await open(pathOf(other, 'documents'), { as: other.owner, locale });
      await page.locator('input[type=file]').setInputFiles({ name: 'note.txt', mimeType: 'text/plain', buffer: Buffer.from('A note.') });
      const uploads = page.getByRole('region', { name: 'Uploads' });
      await uploads.getByRole('button', { name: /^(Try again|Erneut versuchen).* note\.txt/ }).waitFor();
      await uploads.getByRole('button', { name: /^(Request|Anfrage) [\w-]{8,}/ }).waitFor();
      expect(await violationsOf(page), locale).to.deep.equal([]);
    }
  });

  it('have nothing that axe objects to where a document has two tables', async () => {
    const { token } = tenant.owner;
    const bytes = ['Library', 'Workshop'].map((room) => `| Room | Deposit |\n|---|---|\n| ${room} | 120 euros |\n`).join('\nOr:\n\n');
    const { id } = await api.upload(tenant, { name: 'fees.md', contentType: 'text/markdown', bytes });
    const { body } = await api.request('POST', '/api/v1/jobs', { token, body: { kind: 'document.extract', documentId: id } });
    await api.jobIn(token, body.id, ['succeeded']);
    const { page } = await open(pathOf(tenant, `documents/${id}`), { as: tenant.owner });
    await page.getByRole('cell', { name: 'Workshop' }).waitFor();
    expect(await violationsOf(page)).to.deep.equal([]);
  });

  it('fit a window that is enlarged to 400 %, with the longer words of German', async () => {
    const { page } = await open('/sign-in', { as: tenant.owner, locale: 'de', viewport: { width: 320, height: 256 } });
    const own = [
      'documents?tags=care',
      `documents/${documentId}?start=4&end=11`,
      'jobs',
      `jobs/${jobId}`,
      'search?q=mirrors',
      'usage',
      'members',
    ];
    for (const path of [...own, 'workspaces', 'api-keys', `webhooks/${endpointId}`, 'audit', 'account'].map((each) =>
      pathOf(tenant, each),
    )) {
      await page.goto(api.url + path);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await untilLoaded(page);
      expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), path).to.be.at.most(0);
    }
  });

  it('are covered by the menu of a phone, light and dark', async () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      const { page } = await open(pathOf(tenant, 'documents'), { as: tenant.owner, colorScheme, viewport: { width: 390, height: 800 } });
      await page.getByRole('button', { name: 'Menu' }).click();
      await page.getByRole('link', { name: 'Members' }).waitFor();
      expect(await page.evaluate("getComputedStyle(document.querySelector('nav[aria-label=Main]')).backgroundColor")).to.match(/^rgb\(/);
    }
  });

  it('can be used with the keyboard alone', async () => {
    const { page } = await open('/sign-in');
    await page.getByLabel('Email address').focus();
    await page.keyboard.type(tenant.owner.email);
    await page.keyboard.press('Tab');
    await page.keyboard.type('a long password');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Documents' }).waitFor();
    await page.locator('body').press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).to.equal('Skip to the content');
    const reached = new Set<string>();
    for (let step = 0; step < 40; step++) {
      await page.keyboard.press('Tab');
      reached.add(String(await page.evaluate('document.activeElement.getAttribute("aria-label") ?? document.activeElement.textContent')));
    }
    expect([...reached]).to.include.members(['Jobs', 'Search', 'Choose files', 'note.txt', 'Actions for note.txt']);
    await page.getByRole('button', { name: 'Actions for note.txt' }).press('Enter');
    await page.getByRole('menuitem', { name: 'Delete' }).press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await page.evaluate('document.activeElement.getAttribute("aria-label")')).to.equal('Actions for note.txt');
  });

  it('keep the focus in the content when what had it is gone, so that the next Tab does not begin at the navigation', async () => {
    const other = await api.createTenant();
    for (const name of ['a.txt', 'b.txt']) await api.upload(other, { name, bytes: name });
    const { page } = await open(pathOf(other, 'documents'), { as: other.owner });
    await page.getByRole('checkbox', { name: 'Select a.txt' }).press('Space');
    await page.getByRole('button', { name: 'Clear', exact: true }).press('Enter');
    await page.getByRole('group', { name: '1 selected' }).waitFor({ state: 'detached' });
    expect(await page.evaluate('document.activeElement.closest("main")?.id')).to.equal('content');
    await page.getByRole('button', { name: 'Actions for a.txt' }).press('Enter');
    // The menu takes the focus a moment after it is there: a key that is pressed before would be the button's.
    await page.locator('[role=menu]:focus-within').waitFor();
    await page.getByRole('menuitem', { name: 'Delete' }).press('Enter');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).press('Enter');
    await page.getByRole('row', { name: /a\.txt/ }).waitFor({ state: 'detached' });
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await page.evaluate('document.activeElement.closest("main")?.id')).to.equal('content');
  });

  it('tell a screen reader how uploads have ended', async () => {
    const other = await api.createTenant();
    const { page } = await open(pathOf(other, 'documents'), { as: other.owner });
    const files = [
      { name: 'note.txt', mimeType: 'text/plain', buffer: Buffer.from('A note.') },
      { name: 'empty.txt', mimeType: 'text/plain', buffer: Buffer.from('') },
    ];
    await page.locator('input[type=file]').setInputFiles(files);
    const status = page.getByRole('region', { name: 'Uploads' }).getByRole('status');
    await status.getByText('1 of 2 stored, 1 failed').waitFor();
  });

  it('show in high contrast, too, what is checked and what is chosen', async () => {
    const { page } = await open(pathOf(tenant, 'documents'), { as: tenant.owner, forcedColors: 'active' });
    const box = page.getByRole('checkbox', { name: 'Select note.txt' });
    const choice = page.getByRole('radiogroup').locator('label', { hasText: 'Ready' });
    await box.waitFor();
    await page.mouse.move(0, 0);
    const before = await Promise.all([box.screenshot(), choice.screenshot()]);
    await box.check();
    await page.locator('h1').click();
    await untilDrawn(page);
    expect((await box.screenshot()).equals(before[0]), 'the box').to.equal(false);
    await choice.click();
    await page.waitForURL(/status=ready/);
    await page.locator('h1').click();
    await untilDrawn(page);
    expect((await choice.screenshot()).equals(before[1]), 'the choice').to.equal(false);
  });

  it('are printed without the navigation, with the whole text of a document in dark letters', async () => {
    const { page } = await open('/sign-in', { as: tenant.owner, colorScheme: 'dark' });
    const { id } = await api.upload(tenant, { name: 'long.txt', bytes: 'The mirrors are washed in spring.\n\n'.repeat(200) });
    const { token } = tenant.owner;
    const { body } = await api.request('POST', '/api/v1/jobs', { token, body: { kind: 'document.extract', documentId: id } });
    await api.jobIn(token, body.id, ['succeeded']);
    await page.goto(api.url + own(`documents/${id}`));
    const box = 'document.querySelector(".document-text")';
    await page.getByRole('region', { name: 'Text' }).waitFor();
    await page.emulateMedia({ media: 'print' });
    expect(await page.getByRole('navigation', { name: 'Main' }).isVisible()).to.equal(false);
    expect(await page.getByRole('button', { name: /^Go to/ }).isVisible()).to.equal(false);
    expect(await page.evaluate(`${box}.scrollHeight - ${box}.clientHeight`)).to.equal(0);
    expect(await page.evaluate(`getComputedStyle(${box}).color`)).to.equal('rgb(0, 0, 0)');
  });
});

/** For one frame after a change of the window a page has its old width, and colors pass over. */
async function untilDrawn(page: Page): Promise<void> {
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
  await page.evaluate('Promise.allSettled(document.getAnimations().map(({ finished }) => finished))');
}
