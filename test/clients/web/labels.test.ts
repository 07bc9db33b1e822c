import { expect } from 'chai';
import { until } from '../../support/processes.ts';
import { pathOf, useConsole } from './support/use-console.ts';

describe('The labels of documents in the console', () => {
  const { api, open, tenant } = useConsole();

  before(async () => {
    const { token } = tenant.owner;
    for (const [name, bytes] of [
      ['spring.txt', 'The mirrors are washed in spring.'],
      ['autumn.txt', 'The mirrors are covered in autumn.'],
    ] as const) {
      const { id } = await api.upload(tenant, { name, bytes });
      const { body } = await api.request('POST', '/api/v1/jobs', { token, body: { kind: 'document.index', documentId: id } });
      await api.jobIn(token, body.id, ['succeeded']);
    }
  });

  it('are given to a document, and narrow the list and searches, by the address too', async () => {
    const { page, complaints } = await open(pathOf(tenant, 'documents'), { as: tenant.owner });
    await page.getByRole('link', { name: 'spring.txt' }).click();
    await page.getByRole('button', { name: 'Edit labels' }).click();
    const dialog = page.getByRole('dialog');
    for (const label of ['care, yearly', '2026']) {
      await dialog.getByLabel('Labels', { exact: true }).fill(label);
      await dialog.getByLabel('Labels', { exact: true }).press('Enter');
    }
    // What is not JSON is said, and nothing that was typed is lost.
    await dialog.getByLabel('Metadata').fill('{ "year": ');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText('The metadata is not JSON.').waitFor();
    await dialog.getByLabel('Metadata').fill('{ "year": 2026 }');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByText('Metadata', { exact: true }).click();
    await page.getByText('"year": 2026').waitFor();

    await page.getByRole('link', { name: 'care, yearly' }).click();
    await page.getByRole('row', { name: /spring\.txt.*care, yearly/ }).waitFor();
    await page.getByRole('link', { name: 'autumn.txt' }).waitFor({ state: 'detached' });
    expect(decodeURIComponent(new URL(page.url()).search)).to.equal('?tags=["care,+yearly"]');
    await page.reload();
    await page.getByLabel('Kind of file').selectOption('PDF');
    await page.getByText('No document meets the filters.').waitFor();
    await page.getByLabel('Kind of file').selectOption('TXT');
    await page.getByRole('row', { name: /spring\.txt/ }).waitFor();
    expect(await page.getByRole('row').count()).to.equal(2);

    await page.goto(`${api.url}${pathOf(tenant, 'search')}?q=mirrors`);
    await until(async () => (await page.getByRole('listitem').count()) === 2);
    await page.getByRole('combobox', { name: 'Only documents with these labels' }).fill('2026');
    await page.getByRole('combobox', { name: 'Only documents with these labels' }).press('Enter');
    await until(async () => (await page.getByRole('main').getByRole('link').count()) === 1);
    await page.reload();
    await page.getByRole('link', { name: 'Open passage 1: spring.txt' }).waitFor();
    expect(complaints).to.deep.equal([]);
  });

  it('stand beside what the numbers of a search mean', async () => {
    const { page } = await open(pathOf(tenant, 'search?q=mirrors'), { as: tenant.owner });
    const first = page.getByRole('listitem').first();
    await first.getByText(/^similarity [\d.]+ · words [\d.]+$/).click();
    for (const meaning of [/^Place 1 of both lists/, /^Similarity [\d.]+: how near/, /^Words [\d.]+: how much/])
      await first.getByText(meaning).waitFor();
    await page.getByText('Words', { exact: true }).click();
    await first.getByText(/^words [\d.]+$/).click();
    await first.getByText(/^Place 1 by words/).waitFor();
    expect(await first.getByText(/^Similarity/).count()).to.equal(0);
  });
});
