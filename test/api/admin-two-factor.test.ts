import { expect } from 'chai';
import { callOver } from '../support/transports.ts';
import { useApi } from '../support/use-api.ts';
import { totp } from './auth/support/totp.ts';

describe('A platform admin where REQUIRE_ADMIN_TWO_FACTOR is true', () => {
  const { api } = useApi({ env: { REQUIRE_ADMIN_TWO_FACTOR: 'true' } });

  it('is refused what is for platform admins until two-factor is on', async () => {
    const admin = await api.signUp();
    await api.makePlatformAdmin(admin);
    const refused = await callOver(api, 'REST', 'admin.flags.list', {}, { token: admin.token });
    expect(refused.body).to.include({ code: 'FORBIDDEN', status: 403, defined: true });
    expect(refused.body.message).to.include('turn it on first');
    expect((await callOver(api, 'REST', 'account.me', {}, { token: admin.token })).status).to.equal(200);
    const post = (path: string, body: object) => api.request('POST', `/api/auth/two-factor/${path}`, { token: admin.token, body });
    const { body } = await post('enable', { password: 'a long password' });
    const verified = await post('verify-totp', { code: totp(body.totpURI) });
    const token = verified.headers.get('set-auth-token') ?? '';
    expect((await callOver(api, 'REST', 'admin.flags.list', {}, { token })).status).to.equal(200);
  });
});
