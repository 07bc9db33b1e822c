import { expect } from 'chai';
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

  for (const colorScheme of ['light', 'dark'] as const)
    for (const width of [1280, 390])
      it(`have nothing that axe objects to, ${colorScheme}, ${width} px wide, and nothing beyond the edge`, async () => {
        const look = { colorScheme, viewport: { width, height: 800 } };
        const public_ = ['/sign-in', '/sign-up', '/forgot-password', '/reset-password?token=a', '/two-factor', '/accept-invitation/a'];
        const own = [
          ...['documents?tags=care', `documents/${documentId}?start=4&end=11`, 'jobs', `jobs/${jobId}`, 'search?q=mirrors', 'usage'],
          ...['members', 'workspaces'],
          'ask?q=When+are+the+mirrors+washed%3F&key=the-same-answer',
          ...['api-keys', 'webhooks', `webhooks/${endpointId}`, 'audit', 'plan', 'mailbox', 'account'],
        ].map((each) => pathOf(tenant, each));
        for (const [paths, options] of [
          [public_, look],
          [[...own, '/start', '/o/a/b/documents'], { ...look, as: tenant.owner }],
          [['system', 'organizations', 'users', 'flags'].map((each) => `/admin/${each}`), { ...look, as: admin }],
        ] as const) {
          const { page } = await open('/sign-in', options);
          for (const path of paths) {
            await page.goto(api.url + path);
            await page.getByRole('heading', { level: 1 }).waitFor();
            await untilLoaded(page);
            expect(await violationsOf(page), path).to.deep.equal([]);
            expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), path).to.be.at.most(0);
          }
        }
      });

  it('fit a window that is enlarged to 400 %', async () => {
    const { page } = await open('/sign-in', { as: tenant.owner, viewport: { width: 320, height: 256 } });
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
    for (let step = 0; step < 30; step++) {
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
});
