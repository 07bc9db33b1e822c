import { expect } from 'chai';
import { sql } from 'kysely';
import { until } from '../../support/processes.ts';
import { act } from './support/row-menu.ts';
import { password, pathOf, useConsole } from './support/use-console.ts';

describe('A user of the console', () => {
  const { api, open, tenant } = useConsole();

  it('gives a document another name', async () => {
    const { id } = await api.upload(tenant, { name: 'scan0001.txt', bytes: 'The mirrors are washed in spring.' });
    const { page } = await open(pathOf(tenant, `documents/${id}`), { as: tenant.owner });
    await act(page, 'scan0001.txt', 'Rename');
    await page.getByRole('textbox', { name: 'Name' }).fill('mirrors.txt');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'mirrors.txt', level: 1 }).waitFor();
    await page.getByRole('link', { name: 'All documents' }).click();
    await page.getByRole('link', { name: 'mirrors.txt' }).waitFor();
  });

  it('takes another name and password, and ends the sessions of other browsers', async () => {
    const { page } = await open(pathOf(tenant, 'account'), { as: tenant.owner });
    await page.getByLabel('Your name').fill('Ada Lovelace');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();

    await page.getByLabel('Current password').fill('a wrong password');
    await page.getByLabel('New password').fill('another long password');
    await page.getByLabel('Sign out everywhere else').uncheck();
    await page.getByRole('button', { name: 'Change password' }).click();
    await page.getByText('Invalid password').waitFor();
    await page.getByLabel('Current password').fill(password);
    await page.getByRole('button', { name: 'Change password' }).click();
    await page.getByText('The password is changed.').waitFor();

    expect((await me()).body).to.include({ name: 'Ada Lovelace' });
    await page.getByRole('row', { name: /Chrome, Linux \(this one\)/ }).waitFor();
    // Addresses of IPv6 are kept without the half that names the machine.
    for (const [ipAddress, shown] of [
      ['0000:0000:0000:0000:0000:0000:0000:0000', 'localhost'],
      ['2001:0db8:0001:0002:0000:0000:0000:0000', '2001:db8:1:2::'],
    ] as const) {
      await sql`update session set "ipAddress" = ${ipAddress} where "userId" = ${tenant.owner.id}`.execute(api.database.db);
      await page.reload();
      await page.getByRole('cell', { name: shown, exact: true }).first().waitFor();
    }
    await page.getByRole('button', { name: 'End all others' }).click();
    await until(async () => (await me()).status === 401);
    await until(async () => (await page.getByRole('row').count()) === 2);
    const { body } = await api.request('POST', '/api/auth/sign-in/email', { body: { email: tenant.owner.email, password } });
    expect(body.code).to.equal('INVALID_EMAIL_OR_PASSWORD');
  });

  it('goes to a page by a part of its name, and tries all failed jobs again', async () => {
    const busy = await api.createTenant();
    const { token } = busy.owner;
    for (const name of ['one.pdf', 'two.pdf']) {
      const { id } = await api.upload(busy, { name, contentType: 'application/pdf', bytes: 'no PDF at all' });
      const { body } = await api.request('POST', '/api/v1/jobs', { token, body: { kind: 'document.extract', documentId: id } });
      await api.jobIn(token, body.id, ['failed']);
    }
    const { page: hopeless } = await open(pathOf(busy, 'jobs?status=failed'), { as: busy.owner });
    await until(async () => (await hopeless.getByRole('row', { name: /Failed/ }).count()) === 2);
    // The file is no PDF, however often it is read.
    expect(await hopeless.getByRole('button', { name: /again/i }).count()).to.equal(0);
    await api.database.db
      .updateTable('job')
      .set({ error_code: 'ai_unreachable' })
      .where('organization_id', '=', busy.organizationId)
      .execute();
    const { page } = await open(pathOf(busy, 'documents'), { as: busy.owner });
    await page.getByRole('row', { name: /two\.pdf/ }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog').getByRole('combobox').fill('jo');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Jobs', exact: true }).waitFor();
    await page.getByLabel('Show jobs by state').getByText('Failed').click();
    await page.getByRole('button', { name: 'Try 2 jobs again' }).click();
    await page.getByRole('dialog').getByText('2 credits in all').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Try again' }).click();
    await until(async () => (await page.getByRole('row', { name: /Failed/ }).count()) === 4);
    expect(new URL(page.url()).search).to.equal('');
    // Those that were tried again are not offered once more, nor those that have failed for good.
    await page.getByLabel('Show jobs by state').getByText('Failed').click();
    await page.getByRole('button', { name: /^Try \d+ jobs again$/ }).waitFor({ state: 'detached' });
  });

  const me = () => api.request('GET', '/api/v1/me', { token: tenant.owner.token });
});
