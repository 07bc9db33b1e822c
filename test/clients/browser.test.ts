import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { openBrowser } from '../support/browser.ts';
import { useApi } from '../support/use-api.ts';
import { startPageServer } from './support/page-server.ts';

/** What the page of an application would do; `url` and `options` stand before it. */
const program = `
  const { createClient } = await import('@sheaf/client');
  const client = createClient({ url, ...options });
  const email = crypto.randomUUID() + '@example.com';
  await client.auth.signUp({ name: 'Ada', email, password: 'a long password' });
  const organization = await client.auth.createOrganization({ name: 'Ada', slug: 'org-' + crypto.randomUUID() });
  const workspace = await client.workspaces.create({ organizationId: organization.id, name: 'Notes', slug: 'notes' });
  const jobs = await client.jobs.stream({ organizationId: organization.id });
  const progress = [];
  const text = 'The mirrors are washed with deionised water. '.repeat(20_000);
  const document = await client.uploadDocument({
    workspaceId: workspace.id,
    file: new File([text], 'mirrors.txt', { type: 'text/plain' }),
    onProgress: ({ sentBytes, totalBytes }) => progress.push(sentBytes / totalBytes),
  });
  const job = await client.jobs.create({ kind: 'document.extract', documentId: document.id });
  const states = [];
  for await (const event of jobs) {
    states.push(event.status);
    if (event.status === 'succeeded') break;
  }
  const aborted = new AbortController();
  const stopped = await client
    .uploadDocument({
      workspaceId: workspace.id,
      file: new File([text], 'mirrors.txt', { type: 'text/plain' }),
      onProgress: () => aborted.abort(new Error('no longer wanted')),
      signal: aborted.signal,
    })
    .catch((error) => error.message);
  const refused = await client.jobs.cancel({ id: job.id }).catch(({ code, requestId }) => ({ code, requestId }));
  await client.auth.signOut();
  const signedOut = await client.account.me().catch(({ code }) => code);
  return { document, progress, states, stopped, refused, signedOut, size: text.length, cookies: window.document.cookie };
`;

describe('The client in a browser', () => {
  let pages: Awaited<ReturnType<typeof startPageServer>>;
  let browser: Browser;
  let page: Page;

  const { api } = useApi({
    async env() {
      pages = await startPageServer();
      return { WEB_URL: pages.origin };
    },
  });
  before(async () => {
    browser = await openBrowser();
    page = await browser.newPage();
    await page.goto(pages.origin);
  });
  after(async () => {
    await browser.close();
    await pages.stop();
  });

  it('sends the bytes of an upload again if the store falls silent', async () => {
    let silenced = 0;
    await page.route(`${api.url}/**`, async (route) => {
      if (route.request().method() !== 'PUT' || silenced > 0) return await route.continue();
      silenced += 1;
    });
    const document: any = await page.evaluate(`(async () => {
      const { createClient } = await import('@sheaf/client');
      const client = createClient({ url: ${JSON.stringify(api.url)}, timeoutMs: 5_000 });
      const email = crypto.randomUUID() + '@example.com';
      await client.auth.signUp({ name: 'Ada', email, password: 'a long password' });
      const organization = await client.auth.createOrganization({ name: 'Ada', slug: 'org-' + crypto.randomUUID() });
      const workspace = await client.workspaces.create({ organizationId: organization.id, name: 'Notes', slug: 'notes' });
      return await client.uploadDocument({ workspaceId: workspace.id, file: new File(['Washed.'], 'a.txt', { type: 'text/plain' }) });
    })()`);
    await page.unroute(`${api.url}/**`);
    expect(silenced).to.equal(1);
    expect(document).to.include({ name: 'a.txt', status: 'ready' });
  });

  for (const session of ['cookie', 'bearer'])
    it(`does the same as elsewhere, signed in by ${session}`, async () => {
      const result: any = await page.evaluate(
        `(async () => { const url = ${JSON.stringify(api.url)}, options = { session: '${session}' }; ${program} })()`,
      );
      expect(result.document).to.include({ name: 'mirrors.txt', contentType: 'text/plain', status: 'ready', size: result.size });
      expect(result.progress.at(-1)).to.equal(1);
      expect(result.states.at(-1)).to.equal('succeeded');
      expect(result.stopped).to.equal('no longer wanted');
      expect(result.refused.code).to.equal('CONFLICT');
      expect(result.refused.requestId).to.be.a('string');
      expect(result.signedOut).to.equal('UNAUTHORIZED');
      expect(result.cookies).to.equal('');
    });
});
