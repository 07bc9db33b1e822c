import { expect } from 'chai';
import { violationsOf } from './support/axe.ts';
import { pathOf, useConsole } from './support/use-console.ts';

describe('The first steps in the console', () => {
  const { api, open, tenant } = useConsole();

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
