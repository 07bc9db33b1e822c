import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { makeTestDirectory, removeTestDirectory } from '../../support/directories.ts';
import { until } from '../../support/processes.ts';
import { expectOk } from '../../support/requests.ts';
import { violationsOf } from './support/axe.ts';
import { act } from './support/row-menu.ts';
import { password, pathOf, useConsole } from './support/use-console.ts';

describe('A folder that is dropped on the console', () => {
  const { api, open, tenant } = useConsole({ WORKER_ENABLED: 'false', EXTRA_CONTENT_TYPES: 'docx' });
  let directory: string;
  before(() => {
    directory = makeTestDirectory();
    mkdirSync(join(directory, 'Night log/2026'), { recursive: true });
    mkdirSync(join(directory, 'Tools'));
    for (const [name, bytes] of [
      ['Night log/overview.txt', 'Every night has a page.'],
      ['Night log/2026/spring.md', '# Spring'],
      ['Night log/.draft.txt', 'hidden'],
      ['Night log/empty.txt', ''],
      ['Night log/tool.bin', 'unknown'],
      ['Tools/tool.bin', 'unknown'],
      ['slides.pptx', 'unknown here'],
    ] as const)
      writeFileSync(join(directory, name), bytes);
  });
  after(() => removeTestDirectory(directory));

  it('becomes documents that are called by their paths in it, without what the command line leaves out', async () => {
    const { page, complaints } = await open(pathOf(tenant, 'documents'), { as: tenant.owner });
    const uploads = page.getByRole('region', { name: 'Uploads' });
    await page.getByText('No documents yet').waitFor();
    await drop(page, join(directory, 'Night log'));
    await until(async () => (await uploads.getByText('Stored', { exact: true }).count()) === 2);
    await page.getByRole('link', { name: '2026/spring.md', exact: true }).waitFor();
    const { body } = await api.request(
      'GET',
      `/api/v1/workspaces/${tenant.workspaceId}/documents?organizationId=${tenant.organizationId}`,
      {
        token: tenant.owner.token,
      },
    );
    expect(body.items.map(({ name }: { name: string }) => name).sort()).to.deep.equal(['2026/spring.md', 'overview.txt']);
    await drop(page, join(directory, 'Tools'));
    await page.getByRole('alert').getByText('Files of this kind are not taken.').waitFor();
    // Also where no box is: the browser would show the file in place of the page.
    await drop(page, join(directory, 'Night log/overview.txt'), 'h1');
    await until(async () => (await uploads.getByText('overview.txt').count()) === 2);
    expect(await page.getByRole('alert').count()).to.equal(0);
    // One that was meant is not left out in silence, and nothing of it is sent.
    await drop(page, join(directory, 'Night log/empty.txt'));
    await uploads.getByRole('alert').getByText('The file is empty.').waitFor();
    expect(await uploads.getByRole('button', { name: 'Try again to upload empty.txt' }).count()).to.equal(0);
    expect(complaints).to.deep.equal([]);
  });

  it('is offered by the picker, the filter and the hint as the deployment takes it, and not again where it never is', async () => {
    const { page } = await open(pathOf(tenant, 'documents'), { as: tenant.owner });
    await page.getByText(/^PDF, TXT, MD, CSV, HTML, JSON, PNG, JPG, WEBP, TIF, DOCX\. They go/).waitFor();
    const accepted = (await page.locator('input[type=file]').getAttribute('accept')) ?? '';
    expect(accepted.split(',')).to.include.members(['.pdf', '.docx']).and.not.include('.pptx');
    const kinds = await page.getByLabel('Kind of file').locator('option').allTextContents();
    expect(kinds).to.include('DOCX').and.not.include('PPTX');
    await drop(page, join(directory, 'slides.pptx'));
    await page
      .getByRole('alert')
      .getByText(/must be one of/)
      .waitFor();
    expect(await page.getByRole('region', { name: 'Uploads' }).getByRole('button', { name: /again/i }).count()).to.equal(0);
  });

  it('is one bar if it has many files, which says how many are stored and how many failed, and opens to the list', async () => {
    const { page } = await open(pathOf(tenant, 'documents'), { as: tenant.owner });
    const files = [1, 2, 3, 4].map((n) => ({ name: `page ${n}.txt`, mimeType: 'text/plain', buffer: Buffer.from(`Page ${n}.`) }));
    const tool = { name: `${'A name as long as a sentence. '.repeat(5)}exe`, mimeType: '', buffer: Buffer.from('MZ') };
    await page.locator('input[type=file]').setInputFiles([...files, tool]);
    const uploads = page.getByRole('region', { name: 'Uploads' });
    const whole = uploads.locator('summary').getByText('4 of 5 stored, 1 failed');
    await whole.waitFor();
    expect(await uploads.getByText('page 1.txt').isVisible()).to.equal(false);
    await whole.click();
    await uploads.getByText('page 1.txt').waitFor();
    await uploads.getByText('Files of this kind are not taken.').waitFor();
    expect(await page.evaluate("document.querySelector('.opened').scrollWidth - document.querySelector('.opened').clientWidth")).to.equal(
      0,
    );
    // What failed stays until it is removed: then there is nothing left to clear.
    await uploads.getByRole('button', { name: 'Clear the list' }).click();
    await uploads.getByText('page 1.txt').waitFor({ state: 'detached' });
    expect(await uploads.getByRole('button', { name: 'Clear the list' }).count()).to.equal(0);
  });

  it('says of files that are stored, but not made searchable for want of credits, that they are stored', async () => {
    const poor = await api.createTenant();
    const { token } = poor.owner;
    await expectOk(api.request('PATCH', `/api/v1/workspaces/${poor.workspaceId}`, { token, body: { creditBudget: 4 } }));
    const { page } = await open(pathOf(poor, 'documents'), { as: poor.owner });
    const files = [1, 2, 3, 4, 5].map((n) => ({ name: `bill ${n}.txt`, mimeType: 'text/plain', buffer: Buffer.from(`Bill ${n}.`) }));
    await page.locator('input[type=file]').setInputFiles(files);
    const uploads = page.getByRole('region', { name: 'Uploads' });
    await uploads.locator('summary').getByText('5 of 5 stored, 3 failed').click();
    expect(await uploads.getByText('Stored', { exact: true }).count()).to.equal(5);
    expect(await uploads.getByText('“Make searchable” failed').count()).to.equal(3);
    const toBudgets = uploads.getByRole('link', { name: 'Workspaces' });
    expect(await toBudgets.first().getAttribute('href')).to.equal(pathOf(poor, 'workspaces'));
    await expectOk(api.request('PATCH', `/api/v1/workspaces/${poor.workspaceId}`, { token, body: { creditBudget: null } }));
    for (let left = 3; left > 0; left -= 1) {
      await uploads
        .getByRole('button', { name: /^Try again/ })
        .first()
        .click();
      await until(async () => (await uploads.getByText('“Make searchable” failed').count()) === left - 1);
    }
    await uploads.locator('summary').getByText('5 of 5 stored', { exact: true }).waitFor();
  });

  it('asks for the list now and then while many are sent, and not for each', async () => {
    const { page } = await open(pathOf(tenant, 'documents'), { as: tenant.owner });
    await page.getByRole('table').waitFor();
    const asked: string[] = [];
    page.on('request', (request) => void asked.push(request.url().replace(/.*rpc./, '')));
    const files = Array.from({ length: 30 }, (_, n) => ({ name: `${n}.txt`, mimeType: 'text/plain', buffer: Buffer.from(`Note ${n}.`) }));
    const begun = Date.now();
    await page.locator('input[type=file]').setInputFiles(files);
    await page.locator('summary').getByText('30 of 30 stored').waitFor();
    await page.getByRole('link', { name: '29.txt', exact: true }).waitFor();
    expect(asked.filter((path) => path === 'documents/complete').length).to.equal(30);
    for (const read of ['documents/list', 'organizations/usage'])
      expect(asked.filter((path) => path === read).length, read).to.be.at.most(3 + (Date.now() - begun) / 2_000);
  });

  it('tells which file has the same content, and becomes that document once the workspace is set so', async () => {
    const { token } = tenant.owner;
    await api.upload(tenant, { name: 'first.txt', bytes: 'The same night.' });
    const { page } = await open(pathOf(tenant, 'workspaces'), { as: tenant.owner });
    const count = async () => {
      const { organizationId, workspaceId } = tenant;
      const path = `/api/v1/workspaces/${workspaceId}/documents?organizationId=${organizationId}`;
      return (await api.request('GET', path, { token })).body.items.length;
    };
    const file = { name: 'again.txt', mimeType: 'text/plain', buffer: Buffer.from('The same night.') };
    const told = page.getByText('The same content as “first.txt”');
    await page.getByRole('link', { name: 'Documents', exact: true }).click();
    const before = await count();
    await page.locator('input[type=file]').setInputFiles(file);
    await told.waitFor();
    await page.getByRole('button', { name: 'Clear the list' }).click();
    expect(await count()).to.equal(before + 1);

    await page.getByRole('link', { name: 'Workspaces' }).click();
    await act(page, 'Main', 'Files that are there already');
    await page.getByLabel('A file with the same content as a document').selectOption({ label: 'The document that is there is taken' });
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    await page.getByRole('link', { name: 'Documents', exact: true }).click();
    await page.locator('input[type=file]').setInputFiles(file);
    await told.waitFor();
    await page.getByRole('button', { name: 'Clear the list' }).click();
    expect(await count()).to.equal(before + 1);
  });

  it('goes into the workspace that it was dropped in, also if another is chosen while it is read', async () => {
    const two = await api.createTenant();
    const { token } = two.owner;
    const body = { organizationId: two.organizationId, name: 'Other', slug: 'other' };
    await expectOk(api.request('POST', '/api/v1/workspaces', { token, body }));
    const { page } = await open(pathOf(two, 'documents'), { as: two.owner });
    await page.getByText('No documents yet').waitFor();
    await page.evaluate(`{
      const { webkitGetAsEntry } = DataTransferItem.prototype;
      const held = new Promise((resolve) => { window.readOn = resolve; });
      DataTransferItem.prototype.webkitGetAsEntry = function () {
        const entry = webkitGetAsEntry.call(this);
        const reader = entry.createReader();
        entry.createReader = () => ({ readEntries: (...answers) => held.then(() => reader.readEntries(...answers)) });
        return entry;
      };
    }`);
    await drop(page, join(directory, 'Night log'));
    await page.getByLabel('Workspace').selectOption({ label: 'Other' });
    await page.waitForURL('**/other/documents');
    await page.getByText('No documents yet').waitFor();
    await page.evaluate('readOn()');
    const documents = `/api/v1/workspaces/${two.workspaceId}/documents?organizationId=${two.organizationId}&status=ready`;
    await until(async () => (await expectOk(api.request('GET', documents, { token }))).body.items.length === 2);
  });
});

describe('A read-only deployment, in the console', () => {
  const { api, open, tenant } = useConsole({ WORKER_ENABLED: 'false' });
  const reason = 'The database moves until 14:00.';
  const switchTo = (read_only: string | null) => api.database.db.updateTable('deployment').set({ read_only }).execute();
  afterEach(() => switchTo(null));

  it('is named over every page with the reason, and at an upload, which waits and goes on by itself', async () => {
    const { page } = await open('/sign-in', { as: tenant.owner });
    await page.clock.install();
    await page.goto(api.url + pathOf(tenant, 'documents'));
    await page.getByText('No documents yet').waitFor();
    const banner = page.getByRole('status').filter({ hasText: 'Nothing can be changed for now' });
    expect(await banner.count()).to.equal(0);
    await switchTo(reason);
    await page.locator('input[type=file]').setInputFiles({ name: 'note.txt', mimeType: 'text/plain', buffer: Buffer.from('A note.') });
    const uploads = page.getByRole('region', { name: 'Uploads' });
    await uploads.getByRole('alert').getByText(`This deployment is read-only: ${reason}`).waitFor();
    await uploads.getByText('Waiting').first().waitFor();
    await banner.getByText(reason).waitFor();
    await page.setViewportSize({ width: 390, height: 800 });
    await until(async () => Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth')) <= 0);
    await page.setViewportSize({ width: 1280, height: 800 });

    await page.getByRole('link', { name: 'Search', exact: true }).click();
    await banner.getByText(reason).waitFor();
    expect(await violationsOf(page)).to.deep.equal([]);
    await switchTo(null);
    // As long as the service has asked to wait.
    await page.clock.fastForward(60_000);
    await banner.waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Documents', exact: true }).click();
    await uploads.getByText('Stored', { exact: true }).waitFor();
  });

  it('says why nobody can sign in, in German, too', async () => {
    await switchTo(reason);
    const { page } = await open('/sign-in', { locale: 'de-DE' });
    await page.getByLabel('E-Mail-Adresse').fill(tenant.owner.email);
    await page.getByLabel(/^Passwort/).fill(password);
    await page.getByRole('button', { name: 'Anmelden' }).click();
    await page.getByRole('alert').getByText(`Zurzeit kann nichts geändert werden: ${reason}`).waitFor();
  });
});

/** Drops a file or folder of this machine. */
async function drop(page: Page, path: string, where = '.drop-area'): Promise<void> {
  const box = await page.locator(where).boundingBox();
  const { x = 0, y = 0 } = box ?? {};
  const session = await page.context().newCDPSession(page);
  const data = { items: [], files: [path], dragOperationsMask: 1 };
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const)
    await session.send('Input.dispatchDragEvent', { type, x: x + 10, y: y + 10, data });
}
