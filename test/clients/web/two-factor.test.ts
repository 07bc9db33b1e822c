import { totp } from '../../api/auth/support/totp.ts';
import { noteTokens } from '../../support/run-secrets.ts';
import { password, useConsole } from './support/use-console.ts';

describe('Signing in to the console with two-factor', () => {
  const { api, open, tenant } = useConsole();

  it('asks for the code after the password, and takes a backup code', async () => {
    const post = (path: string, body: object) => api.request('POST', `/api/auth/two-factor/${path}`, { token: tenant.owner.token, body });
    const { totpURI, backupCodes } = (await post('enable', { password })).body;
    noteTokens(new URL(totpURI).searchParams.get('secret') ?? '', ...backupCodes);
    await post('verify-totp', { code: totp(totpURI) });
    for (const code of [() => totp(totpURI, 1), () => backupCodes[0]]) {
      const { page } = await open('/sign-in');
      await page.getByLabel('Email address').fill(tenant.owner.email);
      await page.getByRole('textbox', { name: 'Password' }).fill(password);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByLabel('Code').fill('000');
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByText('Invalid backup code').waitFor();
      await page.getByLabel('Code').fill(code());
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('heading', { name: 'Documents', exact: true }).waitFor();
    }
  });
});
