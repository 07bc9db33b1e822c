import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { routes } from '../../contract/index.ts';
import { webhookEvents } from '../../contract/webhook-events.ts';
import { openBrowser } from '../support/browser.ts';
import { useApi } from '../support/use-api.ts';

describe('The reference page', () => {
  const { api } = useApi({ env: { WORKER_ENABLED: 'false' } });
  let browser: Browser;

  before(async () => {
    browser = await openBrowser();
  });
  after(() => browser?.close());

  it('shows every operation and webhook, asks nothing of another origin and breaks no rule of its policy', async () => {
    const { page, requests, complaints } = await visit();
    await page.waitForSelector('.opblock');
    expect(await page.locator('.opblock').count()).to.equal(routes.length + webhookEvents.length);
    expect(await page.locator('.info .title').textContent()).to.include('Sheaf');
    expect([...new Set(requests.map((url) => new URL(url).origin))].filter((origin) => origin !== 'null')).to.deep.equal([api.url]);
    expect(complaints).to.deep.equal([]);
  });

  it('shows sign-in and organizations as its second definition', async () => {
    const { page, complaints } = await visit();
    await page.click('nav a:has-text("Sign-in")');
    await page.waitForSelector('.opblock [data-path="/sign-in/email"]');
    expect(complaints).to.deep.equal([]);
  });

  it('sends requests with the bearer token that it was given', async () => {
    const user = await api.signUp('Grace');
    const { page, complaints } = await visit();
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

  async function visit(): Promise<{ page: Page; requests: string[]; complaints: string[] }> {
    const page = await browser.newPage();
    page.setDefaultTimeout(60_000);
    const requests: string[] = [];
    const complaints: string[] = [];
    page.on('request', (request) => void requests.push(request.url()));
    page.on('console', (message) => ['error', 'warning'].includes(message.type()) && void complaints.push(message.text()));
    page.on('pageerror', (error) => void complaints.push(String(error)));
    await page.goto(`${api.url}/docs`, { waitUntil: 'networkidle' });
    return { page, requests, complaints };
  }
});
