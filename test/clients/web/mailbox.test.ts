import { expect } from 'chai';
import { expectOk } from '../../support/requests.ts';
import { pathOf, useConsole } from './support/use-console.ts';

describe('The mailbox in the console', () => {
  const { api, open, tenant } = useConsole();

  it('shows platform admins the mails that are not sent, with links that work, and others nothing', async () => {
    const { owner } = tenant;
    const { page: before } = await open(pathOf(tenant, 'documents'), { as: owner });
    await before.getByRole('link', { name: 'Members' }).waitFor();
    expect(await before.getByRole('link', { name: 'Mailbox' }).count()).to.equal(0);
    await before.goto(api.url + pathOf(tenant, 'mailbox'));
    await before.getByRole('heading', { name: 'There is nothing at this address.' }).waitFor();
    expect(await before.getByRole('main').count()).to.equal(1);

    await api.makePlatformAdmin(owner);
    const { page, complaints } = await open(pathOf(tenant, 'documents'), { as: owner });
    await page.getByRole('link', { name: 'Mailbox' }).click();
    await page.getByText('No mail was written yet.').waitFor();
    await expectOk(api.request('POST', '/api/auth/request-password-reset', { body: { email: owner.email } }));
    const mail = page.getByRole('article').filter({ hasText: 'Reset your password' }).filter({ hasText: owner.email });
    while ((await mail.count()) === 0) {
      await page.getByRole('button', { name: 'Refresh' }).click();
      await page.waitForTimeout(200);
    }
    await mail.getByRole('link').click();
    await page.getByRole('heading', { name: 'Set a new password' }).waitFor();
    expect(complaints).to.deep.equal([]);
  });
});
