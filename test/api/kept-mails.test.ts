import { expect } from 'chai';
import { until } from '../support/processes.ts';
import { callOver } from '../support/transports.ts';
import { useApi } from '../support/use-api.ts';

describe('Mails of a deployment without a mail server', () => {
  const { api, tenant } = useApi();

  it('are shown to platform admins, newest first, and to nobody else', async () => {
    const admin = await api.signUp('Admin');
    await api.makePlatformAdmin(admin);
    const { token } = admin;
    const read = async (input = {}) => (await callOver(api, 'REST', 'admin.mails.list', input, { token })).body;
    expect(await read()).to.deep.equal({ items: [], total: 0 });
    for (const [count, { email }] of [tenant.owner, admin].entries()) {
      await api.request('POST', '/api/auth/request-password-reset', { body: { email } });
      await until(async () => (await read()).total === count + 1);
    }

    const { status, body } = await callOver(api, 'REST', 'admin.mails.list', { limit: 1, offset: 1 }, { token });
    expect([status, body.total, body.items.length]).to.deep.equal([200, 2, 1]);
    expect(body.items[0]).to.include({ to: tenant.owner.email, subject: 'Reset your password' });
    expect(body.items[0].text).to.match(/\n\nhttp\S+\n\n/);
    for (const caller of [tenant.owner.token, undefined]) {
      const refused = await callOver(api, 'REST', 'admin.mails.list', {}, caller ? { token: caller } : {});
      expect(refused.body).to.include({ code: caller ? 'FORBIDDEN' : 'UNAUTHORIZED' });
    }
  });
});
