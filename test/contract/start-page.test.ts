import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { openBrowser } from '../support/browser.ts';
import { useApi } from '../support/use-api.ts';

describe('The page at the root of the service', () => {
  const { api } = useApi({ env: { REQUIRE_EMAIL_VERIFICATION: 'true', WORKER_ENABLED: 'false' } });
  let browser: Browser;

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
    const foreign = await (
      await fetch(`${api.url}/?error=${encodeURIComponent('<b>call us</b>')}`, { headers: { Accept: 'text/html' } })
    ).text();
    expect(foreign).to.include('<code>UNKNOWN</code>').and.not.include('call us');
  });

  async function visit(url: string): Promise<{ page: Page; complaints: string[] }> {
    const page = await browser.newPage();
    page.setDefaultTimeout(10_000);
    const complaints: string[] = [];
    page.on('console', (message) => ['error', 'warning'].includes(message.type()) && void complaints.push(message.text()));
    await page.goto(url);
    return { page, complaints };
  }
});
