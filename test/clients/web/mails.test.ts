import { expect } from 'chai';
import { until } from '../../support/processes.ts';
import { expectOk } from '../../support/requests.ts';
import { type MailServer, startMailServer } from '../../support/smtp.ts';
import { mailLink } from './support/mail-link.ts';
import { password, pathOf, useConsole } from './support/use-console.ts';

describe('The mails of sign-in', () => {
  let mailServer: MailServer;
  const { api, open, tenant } = useConsole(async () => {
    mailServer = await startMailServer();
    return { SMTP_URL: mailServer.url, EMAIL_FROM: 'sheaf@example.com', REQUIRE_EMAIL_VERIFICATION: 'true' };
  });
  after(() => mailServer.stop());

  const email = 'ada@example.com';

  it('lead to the page that says the address is confirmed, where one signs in, and on to the invitation that one came with', async () => {
    const body = { organizationId: tenant.organizationId, email, role: 'member' };
    await expectOk(api.request('POST', '/api/auth/organization/invite-member', { token: tenant.owner.token, body }));
    const { page } = await open(await mailLink(mailServer, email, /Invitation/));
    await page.getByRole('link', { name: 'Create account' }).click();
    await page.getByLabel('Your name').fill('Ada Lovelace');
    await page.getByLabel('Email address').fill(email);
    await page.getByRole('textbox', { name: 'Password' }).fill(password);
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.getByText(`We have sent a mail to ${email}.`).waitFor();
    await page.getByRole('link', { name: 'Sign in' }).click();
    await page.getByLabel('Email address').fill(email);
    await page.getByRole('textbox', { name: 'Password' }).fill(password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('button', { name: 'Send the mail again' }).click();
    const sent = () => mailServer.mails.filter((mail) => /Confirm/.test(mail.header('Subject') ?? ''));
    await until(() => sent().length === 2);
    for (const mail of sent()) expect(decodeURIComponent(mail.body)).to.include('next=%2Faccept-invitation%2F');

    const { page: confirmed } = await open(await mailLink(mailServer, email, /Confirm/));
    await confirmed.getByText('Your address is confirmed.').waitFor();
    await confirmed.getByLabel('Email address').fill(email);
    await confirmed.getByRole('textbox', { name: 'Password' }).fill(password);
    await confirmed.getByRole('button', { name: 'Sign in' }).click();
    await confirmed.getByRole('button', { name: 'Join' }).waitFor();
  });

  it('are not said to have confirmed an address by a link that did not work', async () => {
    const { page } = await open(`/api/auth/verify-email?token=none&callbackURL=${encodeURIComponent('/sign-in?said=verified')}`);
    await page.getByText('The link did not work (INVALID_TOKEN).').waitFor();
    expect(await page.getByText('Your address is confirmed.').count()).to.equal(0);
  });

  it('lead to the page that sets a new password, once', async () => {
    const { page } = await open('/forgot-password');
    await page.getByLabel('Email address').fill(email);
    await page.getByRole('button', { name: 'Send the mail' }).click();
    await page.getByText(`a mail is on its way to it`).waitFor();

    const path = await mailLink(mailServer, email, /Reset/);
    const { page: reset } = await open(path);
    await reset.getByRole('textbox', { name: 'New password' }).fill('another long password');
    await reset.getByRole('button', { name: 'Set password' }).click();
    await reset.getByText('The password is set').waitFor();
    await reset.getByLabel('Email address').fill(email);
    await reset.getByRole('textbox', { name: 'Password' }).fill('another long password');
    await reset.getByRole('button', { name: 'Sign in' }).click();
    await reset.getByRole('heading', { name: 'Set up your organization' }).waitFor();

    const { page: again } = await open(path);
    await again.getByText('This link does not work, or no longer.').waitFor();
    await again.goto(`${api.url}/reset-password?token=used`);
    await again.getByRole('textbox', { name: 'New password' }).fill('another long password');
    await again.getByRole('button', { name: 'Set password' }).click();
    await again.getByRole('link', { name: 'Reset your password' }).waitFor();
  });

  it('lead on to where one was going before one forgot the password, and to no other site', async () => {
    await api.database.db.updateTable('user').set({ emailVerified: true }).where('id', '=', tenant.owner.id).execute();
    const wanted = pathOf(tenant, 'jobs?status=failed');
    const { page } = await open(wanted);
    await page.getByRole('link', { name: 'Forgot your password?' }).click();
    await page.getByRole('heading', { name: 'Reset your password' }).waitFor();
    await page.getByLabel('Email address').fill(tenant.owner.email);
    await page.getByRole('button', { name: 'Send the mail' }).click();
    await page.getByText(`a mail is on its way to it`).waitFor();
    await page.getByRole('link', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(new URL(page.url()).searchParams.get('next')).to.equal(wanted);

    const path = await mailLink(mailServer, tenant.owner.email, /Reset/);
    const { page: reset } = await open(path);
    await reset.getByRole('textbox', { name: 'New password' }).fill('another long password');
    await reset.getByRole('button', { name: 'Set password' }).click();
    await reset.getByText('The password is set').waitFor();
    await reset.getByLabel('Email address').fill(tenant.owner.email);
    await reset.getByRole('textbox', { name: 'Password' }).fill('another long password');
    await reset.getByRole('button', { name: 'Sign in' }).click();
    await reset.waitForURL(`${api.url}${wanted}`);

    const { page: again } = await open(path);
    await again.getByRole('link', { name: 'Reset your password' }).click();
    await again.waitForURL(`${api.url}/forgot-password?${new URLSearchParams({ next: wanted })}`);

    const { page: elsewhere } = await open('/reset-password?error=INVALID_TOKEN&next=%2F%2Fexample.com');
    await elsewhere.getByRole('link', { name: 'Reset your password' }).click();
    await elsewhere.waitForURL(`${api.url}/forgot-password`);
  });
});
