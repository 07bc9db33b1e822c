import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { routes } from '../../contract/index.ts';
import { webhookEvents } from '../../contract/webhook-events.ts';
import { openBrowser } from '../support/browser.ts';
import { useApi } from '../support/use-api.ts';

describe('The pages of the service', () => {
  const { api } = useApi({ env: { CONSOLE: 'false', REQUIRE_EMAIL_VERIFICATION: 'true', WORKER_ENABLED: 'false' } });
  let browser: Browser;

  const get = (path: string) => fetch(`${api.url}${path}`, { headers: { Accept: 'text/html' } });

  before(async () => {
    browser = await openBrowser();
  });
  after(() => browser?.close());

  it('says what is here, leads to the reference, and keeps to its policy', async () => {
    const { page, complaints } = await visit(`${api.url}/`);
    expect(await page.locator('h1').textContent()).to.equal('Sheaf');
    expect(await page.locator('a').getAttribute('href')).to.equal('/docs');
    expect(await page.evaluate('getComputedStyle(document.body).maxWidth')).to.not.equal('none');
    expect(complaints).to.deep.equal([]);
  });

  it('is where the link of a mail leads that confirms an address', async () => {
    const body = { name: 'Ada', email: 'ada@example.com', password: 'a long password' };
    await api.request('POST', '/api/auth/sign-up/email', { body });
    const { rows } = await api.database.pool.query<{ link: string }>("select substring(body from 'http\\S+') as link from mail");
    const { page } = await visit(rows[0]?.link ?? '');
    expect(page.url()).to.equal(`${api.url}/`);
    expect(await page.locator('p').first().textContent()).to.include('it has done its work');
  });

  it('shows the code of what failed, and no other text of the query', async () => {
    const { page } = await visit(`${api.url}/api/auth/error?error=state_mismatch`);
    expect(page.url()).to.equal(`${api.url}/?error=state_mismatch`);
    expect(await page.locator('code').textContent()).to.equal('state_mismatch');
    const foreign = await (await get(`/?error=${encodeURIComponent('<b>call us</b>')}`)).text();
    expect(foreign).to.include('<code>UNKNOWN</code>').and.not.include('call us');
  });

  it('take the links of mails if there is no web application: with what they say, a new password is set and an invitation accepted', async () => {
    const password = 'a long password';
    const guest = { name: 'Guest', email: 'guest@example.com', password };
    const owner = { name: 'Owner', email: 'owner@example.com', password };
    for (const user of [guest, owner]) await api.request('POST', '/api/auth/sign-up/email', { body: user });
    await api.database.pool.query('update "user" set "emailVerified" = true');

    // An owner who has forgotten the password.
    await api.request('POST', '/api/auth/request-password-reset', { body: { email: owner.email } });
    const reset = await visit(await linkOf('password-reset'));
    expect(reset.page.url()).to.match(new RegExp(`^${api.url}/reset-password\\?token=\\w+$`));
    expect(reset.complaints).to.deep.equal([]);
    expect(await followCommand(reset.page)).to.deep.equal({ status: true });
    await reset.page.goto(await linkOf('password-reset'));
    expect(await reset.page.locator('code').textContent()).to.equal('INVALID_TOKEN');

    const signIn = (user: object) => api.request('POST', '/api/auth/sign-in/email', { body: user });
    const token = (await signIn({ ...owner, password: 'a new password' })).headers.get('set-auth-token') ?? '';
    const { body: organization } = await api.request('POST', '/api/auth/organization/create', { token, body: { name: 'A', slug: 'aa' } });
    const invitation = { email: guest.email, role: 'member', organizationId: organization.id };
    await api.request('POST', '/api/auth/organization/invite-member', { token, body: invitation });
    const invited = await visit(await linkOf('invitation'));
    expect(invited.page.url()).to.match(new RegExp(`^${api.url}/accept-invitation/\\w+$`));
    const accepted = await followCommand(invited.page, (await signIn(guest)).headers.get('set-auth-token') ?? '');
    expect(accepted).to.have.nested.property('member.organizationId', organization.id);
  });

  it('show nothing of a link but an id', async () => {
    for (const path of ['/reset-password', '/reset-password?token=%3Cb%3E', '/reset-password?token=a&token=b'])
      expect(await (await get(path)).text(), path)
        .to.include('<code>INVALID_TOKEN</code>')
        .and.not.include('<pre>');
    expect(await (await get('/reset-password?error=%3Cb%3E&token=a')).text()).to.include('<code>UNKNOWN</code>');
    const foreign = await get('/accept-invitation/%3Cb%3E');
    expect([foreign.status, await foreign.json()]).to.deep.include(404);
  });

  describe('with the reference', () => {
    it('shows every operation and webhook, asks nothing of another origin and breaks no rule of its policy', async () => {
      const { page, requests, complaints } = await visit(`${api.url}/docs`, { waitUntil: 'networkidle' });
      await page.waitForSelector('.opblock');
      expect(await page.locator('.opblock').count()).to.equal(routes.length + webhookEvents.length);
      expect(await page.locator('.info .title').textContent()).to.include('Sheaf');
      expect([...new Set(requests.map((url) => new URL(url).origin))].filter((origin) => origin !== 'null')).to.deep.equal([api.url]);
      expect(complaints).to.deep.equal([]);
    });

    it('shows sign-in and organizations as its second definition', async () => {
      const { page, complaints } = await visit(`${api.url}/docs`, { waitUntil: 'networkidle' });
      await page.click('nav a:has-text("Sign-in")');
      await page.waitForSelector('.opblock [data-path="/sign-in/email"]');
      expect(complaints).to.deep.equal([]);
    });

    it('sends requests with the bearer token that it was given', async () => {
      const user = await api.signUp('Grace');
      const { page, complaints } = await visit(`${api.url}/docs`, { waitUntil: 'networkidle' });
      await page.click('button.authorize');
      await page.fill('.auth-container input[type=text]', user.token);
      await page.click('.auth-container button[type=submit]');
      await page.click('.modal-ux .btn-done');
      const operation = page.locator('.opblock', { has: page.locator('[data-path="/me"]') });
      await operation.locator('.opblock-summary-control').click();
      await operation.locator('button.execute').click();
      const answer = operation.locator('.live-responses-table .response .highlight-code');
      await answer.waitFor();
      expect(await answer.textContent()).to.include(user.email);
      expect(complaints).to.deep.equal([]);
    });

    it('has a policy of its own, and leaves that of the API as it is', async () => {
      const page = await fetch(`${api.url}/docs`);
      expect(page.headers.get('content-security-policy')).to.match(/^default-src 'none'; script-src 'self'; /);
      expect(page.headers.get('content-security-policy')).to.not.match(/unsafe|https?:|\*/);
      const absent = await fetch(`${api.url}/docs/package.json`);
      expect(absent.status).to.equal(404);
    });
  });

  async function linkOf(kind: string): Promise<string> {
    const { rows } = await api.database.pool.query<{ link: string }>(
      "select substring(body from 'http\\S+') as link from mail where kind = $1 order by created_at desc",
      [kind],
    );
    return rows[0]?.link ?? '';
  }

  /** Sends the request that a page says, as the shell would read it. */
  async function followCommand(page: Page, token = ''): Promise<unknown> {
    const command = (await page.locator('pre').textContent()) ?? '';
    const { stdout } = await promisify(execFile)('sh', ['-c', command], { env: { ...process.env, TOKEN: token } });
    return JSON.parse(stdout);
  }

  async function visit(url: string, options: { waitUntil?: 'networkidle' } = {}) {
    const page = await browser.newPage();
    page.setDefaultTimeout(60_000);
    const requests: string[] = [];
    const complaints: string[] = [];
    page.on('request', (request) => void requests.push(request.url()));
    page.on('console', (message) => ['error', 'warning'].includes(message.type()) && void complaints.push(message.text()));
    page.on('pageerror', (error) => void complaints.push(String(error)));
    await page.goto(url, options);
    return { page, requests, complaints };
  }
});
