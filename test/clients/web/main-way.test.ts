import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { pointTo, runDemo } from '../../docs/support/run-demo.ts';
import { makeTestDirectory, removeTestDirectory } from '../../support/directories.ts';
import { until } from '../../support/processes.ts';
import { expectOk } from '../../support/requests.ts';
import type { Tenant } from '../../support/tenants.ts';
import { violationsOf } from './support/axe.ts';
import { password, pathOf, useConsole } from './support/use-console.ts';

describe('A newcomer in the console', function () {
  this.timeout(240_000);
  const { api, open, tenant } = useConsole();

  it('signs up, sets up an organization, watches the samples, finds a passage, gets an answer and sees what it cost', async () => {
    const { page, complaints } = await open('/');
    await page.getByRole('link', { name: 'Create an account' }).click();
    await page.getByLabel('Your name').fill('Ada Lovelace');
    await page.getByLabel('Email address').fill('ada@example.com');
    await page.getByLabel(/^Password/).fill(password);
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.getByLabel('Name of the organization').fill('Korvid Ridge');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { name: 'Documents' }).waitFor();
    expect(new URL(page.url()).pathname).to.equal('/o/korvid-ridge/general/documents');
    await page.getByRole('row', { name: /observatory-handbook\.pdf/ }).waitFor();

    // The jobs end while they are looked at, without another request for them.
    await page.getByRole('link', { name: 'Jobs' }).click();
    await page.getByText('Live', { exact: true }).waitFor();
    await expectCount(page.getByRole('row', { name: /Succeeded/ }), 6);
    await page.getByRole('link', { name: 'Documents' }).click();
    await page.getByRole('row', { name: /observatory-handbook\.pdf Searchable/ }).waitFor();

    await page.getByRole('link', { name: 'Search' }).click();
    await page.getByLabel('What are you looking for?').fill('how often are the mirrors washed');
    await page.getByRole('button', { name: 'Search' }).click();
    const first = page.getByRole('listitem').first();
    await first.locator('mark').first().waitFor();
    await first.getByRole('link', { name: 'observatory-handbook.pdf' }).click();
    const marked = page.getByRole('region', { name: 'Text' }).locator('mark');
    await marked.waitFor();
    expect(await marked.textContent()).to.match(/mirrors? .*washed/is);
    expect(page.url()).to.match(/page=\d+/);

    await page.getByRole('link', { name: 'Ask' }).click();
    await page.getByLabel('What do you want to know?').fill('How often are the mirrors washed?');
    await page.getByRole('button', { name: 'Ask' }).click();
    const sentence = page.getByRole('list', { name: 'Answer' }).getByRole('listitem').first();
    await sentence.getByText(/Mirrors are washed/).waitFor();
    await page.getByText('Sentences of the documents, as they stand there · 3 credits').waitFor();
    const said = await sentence.textContent();
    // Whoever comes back gets the same answer, and pays for it once.
    await page.reload();
    await sentence.waitFor();
    expect(await sentence.textContent()).to.equal(said);
    // The next question leans on the first, whose answer stays.
    const body = page.waitForRequest((request) => /documents\/ask$/.test(request.url()));
    await page.setViewportSize({ width: 1280, height: 500 });
    await page.getByLabel('What else do you want to know?').fill('And who may wash them?');
    await page.getByRole('button', { name: 'Ask', exact: true }).click();
    expect((await body).postData()).to.contain('"conversation":["How often are the mirrors washed?"]');
    const next = page.getByRole('region', { name: 'And who may wash them?' });
    await next.getByText(/· 3 credits$/).waitFor();
    // On a low window, too, the newest question is in view.
    expect((await next.boundingBox())?.y).to.be.within(40, 350);
    await page.setViewportSize({ width: 1280, height: 800 });
    await page
      .getByRole('region', { name: 'How often are the mirrors washed?' })
      .getByText(/Mirrors are washed/)
      .first()
      .waitFor();
    // After the page was loaded anew the answers before are asked for by hand, and cost nothing again.
    await page.reload();
    await page.getByRole('button', { name: 'Show the answer' }).click();
    await sentence.waitFor();
    expect(await sentence.textContent()).to.equal(said);
    await sentence.getByRole('link', { name: /^Open the quote: observatory-handbook\.pdf, page \d$/ }).click();
    await marked.waitFor();
    expect(await marked.textContent()).to.match(/^Mirrors are washed[^.]*\.$/);

    await page.getByRole('link', { name: 'Usage' }).click();
    await page.getByText('Billing is off: no plan sets limits.').waitFor();
    // Six documents, two credits each, and two answers.
    await page.getByText('18', { exact: true }).first().waitFor();
    await page.getByText('As a table').click();
    await page.getByRole('row', { name: /Make searchable 12 0$/ }).waitFor();
    // Of a single day the number stands over its bar.
    expect(await page.locator('.chart > div > span').allTextContents()).to.deep.equal(['18']);
    expect(complaints).to.deep.equal([]);

    expect(await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])')).not.to.match(
      /[Tt]oken|eyJ/,
    );
    await page.getByRole('button', { name: /^Account Ada Lovelace/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.goto(new URL('/o/korvid-ridge/general/jobs', page.url()).href);
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  });

  it('copies a row of a table as it is shown, without the bars between its cells', async () => {
    const tenant = await api.createTenant();
    const { token } = tenant.owner;
    const bytes = '| Room | Deposit |\n|---|---|\n| Library | 120 euros |\n| Workshop | 75 euros |\n';
    const { id } = await api.upload(tenant, { name: 'fees.md', contentType: 'text/markdown', bytes });
    const { body } = await api.request('POST', '/api/v1/jobs', { token, body: { kind: 'document.index', documentId: id } });
    await api.jobIn(token, body.id, ['succeeded']);
    const path = pathOf(tenant, 'ask?q=What+is+the+deposit+of+the+workshop%3F&key=of-the-fees');
    const { page } = await open(path, { as: tenant.owner, permissions: ['clipboard-read', 'clipboard-write'] });
    await page.getByRole('button', { name: 'Copy with sources' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    const copied = String(await page.evaluate('navigator.clipboard.readText()'));
    expect(copied.split('\n')).to.include('Room: Workshop · Deposit: 75 euros (fees.md)');
  });

  it('pays once for a document that the workspace makes searchable by itself, and is not offered it again', async () => {
    const { organizationId, owner, workspaceId } = tenant;
    const call = (method: string, path: string, body?: object) =>
      expectOk(api.request(method, `/api/v1${path}`, { token: owner.token, ...(body && { body }) }));
    await call('PATCH', `/workspaces/${workspaceId}`, { autoProcess: ['document.index'] });
    const { page } = await open(pathOf(tenant, 'documents'), { as: owner });
    const file = { name: 'mirrors.md', mimeType: 'text/markdown', buffer: Buffer.from('Mirrors are washed each month.') };
    await page.locator('input[type=file]').setInputFiles(file);
    await page.getByRole('region', { name: 'Uploads' }).getByText('Stored', { exact: true }).waitFor();
    await until(async () => (await call('GET', `/organizations/${organizationId}/jobs?status=succeeded`)).body.items.length > 0);
    expect((await call('GET', `/organizations/${organizationId}/jobs`)).body.items).to.have.length(1);
    await page.getByRole('link', { name: 'mirrors.md' }).click();
    const jobKinds = page.waitForResponse('**/system/jobKinds');
    await page.reload();
    await page.getByText('1 chunk').waitFor();
    // This deployment has no such jobs.
    expect((await (await jobKinds).json()).json.jobKinds).not.to.include('document.extractFields');
    expect(await page.getByRole('region', { name: 'Fields' }).count()).to.equal(0);
    await page.getByRole('button', { name: 'Download' }).waitFor();
    expect(await page.getByRole('button', { name: 'Make searchable' }).count()).to.equal(0);
  });

  it('loads at most 170 kB of compressed script to sign in, and none of the other pages', async () => {
    const { page } = await open('/sign-in');
    await page.getByLabel('Email address').waitFor();
    await page.waitForLoadState('networkidle');
    const scripts = (await page.evaluate(
      "performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('.js')).map(({ name, encodedBodySize }) => [name, encodedBodySize])",
    )) as [string, number][];
    const total = scripts.reduce((sum, [, bytes]) => sum + bytes, 0);
    expect(total, JSON.stringify(scripts)).to.be.within(50_000, 170_000);
    expect(scripts.filter(([name]) => /\/(documents?|jobs|search|ask|usage|shell)-/.test(name))).to.deep.equal([]);
  });

  describe('The first steps in the console', () => {
    let tenant: Tenant;
    before(async () => {
      tenant = await api.createTenant();
    });

    it('tick themselves, and are gone once they are done, and for those who do not set up', async () => {
      const { organizationId, owner } = tenant;
      const { page, complaints } = await open(pathOf(tenant, 'documents'), { as: owner, viewport: { width: 390, height: 800 } });
      const steps = page.getByRole('region', { name: 'First steps' });
      const done = steps.getByRole('listitem').filter({ has: page.getByRole('img', { name: 'Done', exact: true }) });
      await steps.getByText('Upload a document').waitFor();
      expect(await done.count()).to.equal(0);
      expect(await violationsOf(page)).to.deep.equal([]);
      expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).to.be.at.most(0);

      const note = { name: 'note.txt', mimeType: 'text/plain', buffer: Buffer.from('The mirrors are washed in spring.') };
      await page.locator('input[type=file]').setInputFiles(note);
      await done.getByText('Upload a document').waitFor();
      await page.getByRole('row', { name: /note\.txt Searchable/ }).waitFor();

      await steps.getByRole('link', { name: 'Ask a question' }).click();
      await page.getByLabel('What do you want to know?').fill('When are the mirrors washed?');
      await page.getByRole('button', { name: 'Ask' }).click();
      await page.getByRole('list', { name: 'Answer' }).getByText('washed in spring').waitFor();
      await page.goBack();
      await page.goBack();
      await done.getByText('Ask your documents').waitFor();
      expect(await done.count()).to.equal(2);

      const member = await api.signUp('Grace');
      await api.addMember(organizationId, member, 'member');
      const { page: theirs } = await open(pathOf(tenant, 'documents'), { as: member });
      await theirs.getByRole('row', { name: /note\.txt/ }).waitFor();
      expect(await theirs.getByRole('region', { name: 'First steps' }).count()).to.equal(0);
      await page.reload();
      await page.getByRole('row', { name: /note\.txt/ }).waitFor();
      await steps.waitFor({ state: 'detached' });
      expect(complaints).to.deep.equal([]);
    });

    it('can be closed for good', async () => {
      const other = await api.createTenant();
      const { page } = await open(pathOf(other, 'documents'), { as: other.owner });
      await page.getByRole('button', { name: 'Close the first steps' }).click();
      const asked: string[] = [];
      page.on('request', (request) => void asked.push(new URL(request.url()).pathname));
      await page.reload();
      await page.getByText('No documents yet').waitFor();
      expect(asked.filter((path) => path.endsWith('/usageHistory'))).to.deep.equal([]);
      expect(await page.getByRole('region', { name: 'First steps' }).count()).to.equal(0);
    });
  });

  describe('What the demo has done, in the console', () => {
    let directory: string;
    before(() => {
      directory = makeTestDirectory();
    });
    after(() => removeTestDirectory(directory));

    it('is where its link leads, as the user that it names', async () => {
      const path = join(directory, 'keeper.md');
      writeFileSync(path, '# Lighthouse\n\nThe lamp is lit at dusk by the keeper.\n');
      const { code, stdout, stderr } = await runDemo([path], pointTo(api));
      expect(code, stderr).to.equal(0);
      const [, email = '', password = '', url = ''] =
        /In the console, as (\S+), password (\S+)\n(\S+)\n/.exec(stdout) ?? expect.fail(stdout);

      const { page, complaints } = await open(url.slice(api.url.length));
      await page.getByLabel('Email address').fill(email);
      await page.getByRole('textbox', { name: 'Password' }).fill(password);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page
        .getByRole('row', { name: /keeper\.md.*Succeeded/ })
        .nth(2)
        .waitFor();
      expect(new URL(page.url()).pathname).to.match(/^\/o\/demo-\w+\/documents\/jobs$/);
      expect(complaints).to.deep.equal([]);
    });
  });
});

async function expectCount(rows: { count(): Promise<number> }, count: number): Promise<void> {
  await until(async () => (await rows.count()) >= count, 60_000);
}
