import { expect } from 'chai';
import { pathOf, useConsole } from './support/use-console.ts';

describe('The list of documents in the console', () => {
  const { api, open, tenant } = useConsole();

  it('keeps the focus where it is while other documents come in', async () => {
    await api.upload(tenant, { name: 'first.txt', bytes: 'The first.' });
    const { page } = await open(pathOf(tenant, 'documents'), { as: tenant.owner });
    await page.getByRole('button', { name: 'Delete first.txt' }).focus();
    const { token } = tenant.owner;
    const { id: documentId } = await api.upload(tenant, { name: 'second.txt', bytes: 'The second.' });
    const { body: job } = await api.request('POST', '/api/v1/jobs', { token, body: { kind: 'document.extract', documentId } });
    await api.jobIn(token, job.id, ['succeeded']);
    await page.getByRole('row', { name: /second\.txt/ }).waitFor();
    expect(await page.evaluate('document.activeElement.ariaLabel')).to.equal('Delete first.txt');
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
  });
});
