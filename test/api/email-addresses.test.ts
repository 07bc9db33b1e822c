import { expect } from 'chai';
import { useApi } from '../support/use-api.ts';

const lawful = [
  'o!brien@example.com',
  'user@localhost',
  'ada@xn--bcher-kva.xn--p1ai',
  'a..b/c={d}~@example.com',
  `${'x'.repeat(242)}@example.com`,
];
const unlawful = [
  'nobody',
  'ada@b\u00fccher.example',
  'a b@example.com',
  '"ada"@example.com',
  'a@-b.example',
  `${'x'.repeat(243)}@example.com`,
];

describe('One rule for addresses', () => {
  const { api, tenant } = useApi({ env: { WORKER_ENABLED: 'false', CONTACT_EMAIL: 'contact+us@localhost' }, check: 'at the end' });
  const post = (path: string, body: object, token?: string) => api.request('POST', path, { body, ...(token && { token }) });

  /** What signing up, inviting and the contact form respond with. */
  async function statuses(email: string) {
    const { token } = tenant.owner;
    const signUp = await post('/api/auth/sign-up/email', { name: 'O', email, password: 'a long password' });
    const body = { email, role: 'member', organizationId: tenant.organizationId };
    const invite = await post('/api/auth/organization/invite-member', body, token);
    const contact = await post('/api/v1/contact', { email, message: 'How are you doing?', website: 'x' });
    return { signUp, all: [signUp, invite, contact].map(({ status }) => status) };
  }

  for (const email of lawful)
    it(`takes ${email.slice(0, 30)} wherever one is given`, async () => {
      const { signUp, all } = await statuses(email);
      expect(all).to.deep.equal([200, 200, 200]);
      const token = signUp.headers.get('set-auth-token') ?? '';
      expect((await api.request('GET', '/api/v1/me', { token })).body).to.include({ email });
      expect((await post('/api/auth/sign-in/email', { email, password: 'a long password' })).status).to.equal(200);
      expect((await post('/api/auth/request-password-reset', { email })).status).to.equal(200);
    });

  for (const email of unlawful)
    it(`refuses ${email.slice(0, 30)} wherever one is given`, async () => {
      expect((await statuses(email)).all).to.deep.equal([400, 400, 400]);
    });

  it('refuses no response for an address that is stored', async () => {
    const { id, token } = await api.signUp();
    await api.database.db.updateTable('user').set({ email: 'no address' }).where('id', '=', id).execute();
    const response = await fetch(`${api.url}/api/v1/me`, { headers: { authorization: `Bearer ${token}` } });
    expect(await response.json()).to.include({ email: 'no address' });
  });
});
