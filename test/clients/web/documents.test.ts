import { expect } from 'chai';
import type { Tenant } from '../../support/tenants.ts';
import { violationsOf } from './support/axe.ts';
import { act } from './support/row-menu.ts';
import { pathOf, useConsole } from './support/use-console.ts';

describe('The list of documents in the console', () => {
  const { api, open, tenant } = useConsole();

  it('keeps the focus where it is while other documents come in', async () => {
    await api.upload(tenant, { name: 'first.txt', bytes: 'The first.' });
    const { page } = await open(pathOf(tenant, 'documents'), { as: tenant.owner });
    await page.getByRole('button', { name: 'Actions for first.txt' }).focus();
    const { token } = tenant.owner;
    const { id: documentId } = await api.upload(tenant, { name: 'second.txt', bytes: 'The second.' });
    const { body: job } = await api.request('POST', '/api/v1/jobs', { token, body: { kind: 'document.extract', documentId } });
    await api.jobIn(token, job.id, ['succeeded']);
    await page.getByRole('row', { name: /second\.txt/ }).waitFor();
    expect(await page.evaluate('document.activeElement.ariaLabel')).to.equal('Actions for first.txt');
  });

  it('deletes those that are selected, says how many before, and keeps the others', async () => {
    for (const name of ['a.txt', 'b.txt', 'c.txt']) await api.upload(tenant, { name, bytes: name });
    const { page } = await open(pathOf(tenant, 'documents'), { as: tenant.owner });
    for (const name of ['a.txt', 'c.txt']) await page.getByRole('checkbox', { name: `Select ${name}` }).check();
    const bar = page.getByRole('group', { name: '2 selected' });
    await bar.getByRole('button', { name: 'Delete' }).click();
    // Another is gone before it is confirmed: what was wanted has happened.
    const { body } = await api.request('GET', listPath(tenant), { token: tenant.owner.token });
    const gone = body.items.find(({ name }: { name: string }) => name === 'a.txt').id;
    await api.request('DELETE', `/api/v1/documents/${gone}`, { token: tenant.owner.token });
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Delete 2 documents?').waitFor();
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('row', { name: /c\.txt/ }).waitFor({ state: 'detached' });
    expect(await page.getByRole('row', { name: /[ab]\.txt/ }).count()).to.equal(1);
    expect(await bar.count()).to.equal(0);
  });

  it('has rows of 40 px, and shortens a long name in its middle', async () => {
    const name = `${'a long beginning '.repeat(8)}and the end.txt`;
    await api.upload(tenant, { name, bytes: 'Long.' });
    const { page } = await open(pathOf(tenant, 'documents'), { as: tenant.owner });
    const link = page.getByRole('link', { name, exact: true });
    await link.waitFor();
    const box = await page.getByRole('row').filter({ has: link }).boundingBox();
    expect(box?.height).to.be.within(40, 41);
    const end = await link.locator('.keep').boundingBox();
    const cell = await page.getByRole('cell').filter({ has: link }).boundingBox();
    expect((end?.x ?? 0) + (end?.width ?? 0)).to.be.at.most((cell?.x ?? 0) + (cell?.width ?? 0));
    expect(await link.locator('.keep').textContent()).to.equal(' and the end.txt');

    // Whoever wants more of them at once chooses lower ones, which stay.
    await page.getByRole('button', { name: 'Account' }).click();
    await page.getByRole('menuitem', { name: 'Use low rows' }).click();
    await page.reload();
    await link.waitFor();
    expect((await page.getByRole('row').filter({ has: link }).boundingBox())?.height).to.be.within(32, 33);
    await page.getByRole('button', { name: 'Account' }).click();
    await page.getByRole('menuitem', { name: 'Use high rows' }).waitFor();
  });

  it('gets a new version from its page, which lists what it was before, under its name', async () => {
    const { token } = tenant.owner;
    const { id: documentId } = await api.upload(tenant, { name: 'rota.txt', bytes: 'The night watch begins at nine.' });
    const { body } = await api.request('POST', '/api/v1/jobs', { token, body: { kind: 'document.index', documentId } });
    await api.jobIn(token, body.id, ['succeeded']);
    const { page, complaints } = await open(pathOf(tenant, `documents/${documentId}`), { as: tenant.owner });
    await page.getByText('The night watch begins at nine.').waitFor();
    expect(await page.getByRole('region', { name: 'Versions' }).count()).to.equal(0);
    const chosen = page.waitForEvent('filechooser');
    await act(page, 'rota.txt', 'Upload a new version');
    const file = { name: 'rota (2).txt', mimeType: 'text/plain', buffer: Buffer.from('The night watch begins at ten.') };
    await (await chosen).setFiles(file);
    await page.getByText('The night watch begins at ten.').waitFor();
    await page.getByRole('heading', { name: 'rota.txt' }).waitFor();
    const versions = page.getByRole('region', { name: 'Versions' });
    await versions.getByRole('row', { name: /^1 31 B/ }).waitFor();
    await versions.getByRole('row', { name: /^2 30 B/ }).waitFor();
    await api.database.db
      .updateTable('document')
      .set({ extracted_ocr_confidence: [92, null, 81] })
      .where('id', '=', documentId)
      .execute();
    await page.reload();
    await page.getByText('text recognition at least 81% sure').waitFor();
    expect(await violationsOf(page)).to.deep.equal([]);
    expect(complaints).to.deep.equal([]);
  });

  it('says which document could not be read, and why; so does its page', async () => {
    const { token } = tenant.owner;
    const { id: documentId } = await api.upload(tenant, { name: 'broken.pdf', contentType: 'application/pdf', bytes: 'This is no PDF.' });
    const { body } = await api.request('POST', '/api/v1/jobs', { token, body: { kind: 'document.index', documentId } });
    const { error } = await api.jobIn(token, body.id, ['failed']);
    const { page } = await open(pathOf(tenant, 'documents'), { as: tenant.owner });
    const row = page.getByRole('row', { name: /broken\.pdf/ });
    await row.getByText('Failed').waitFor();
    await row.getByText(error.message).waitFor();
    await row.getByRole('link', { name: 'broken.pdf' }).click();
    const alert = page.getByRole('alert').filter({ hasText: '“Make searchable” failed' });
    await alert.getByText(error.message).waitFor();
    // Its jobs stand on it, with what each took and cost: nothing, for it failed.
    const jobs = page.getByRole('region', { name: 'Jobs of this document' });
    await jobs.getByRole('row', { name: /^Make searchable .* Failed [\d.]+ sec 0 / }).waitFor();
    await jobs.getByText(error.message).waitFor();
    // What cannot work is not offered, and nobody is told to try it.
    await page.getByText('There is no text: reading it has failed.').waitFor();
    await page.getByRole('button', { name: 'Actions for broken.pdf' }).click();
    expect(await page.getByRole('menuitem').allTextContents()).to.deep.equal(['Upload a new version', 'Rename', 'Delete']);
    expect(await page.getByRole('button', { name: 'Make searchable' }).count()).to.equal(0);
    await page.keyboard.press('Escape');

    // In the list of jobs the reason stands below the name, and not below the box before it.
    await page.getByRole('link', { name: 'Jobs', exact: true }).click();
    const job = page.getByRole('row', { name: /broken\.pdf/ });
    await job.getByText(error.message).waitFor();
    const left = await page.evaluate(
      "(() => { const range = document.createRange(); range.selectNodeContents(document.querySelector('.below-line')); return range.getBoundingClientRect().x; })()",
    );
    expect(left).to.be.closeTo((await job.getByRole('link', { name: 'Make searchable' }).boundingBox())?.x ?? 0, 1);
    // What was given back is in neither sum.
    await page.getByRole('link', { name: 'Usage' }).click();
    const used = await page.locator('.amount').first().textContent();
    await page.getByRole('img', { name: `Credits by day and kind: ${used} in all` }).waitFor();
  });
});

const listPath = ({ workspaceId, organizationId }: Tenant) =>
  `/api/v1/workspaces/${workspaceId}/documents?organizationId=${organizationId}`;
