import { expect } from 'chai';
import { isCommonPassword } from '../../../api/auth/common-passwords.ts';
import type { Client } from './support/client.ts';
import { type AuthService, startAuthService } from './support/service.ts';

let service: AuthService;
let admin: Client;
let owner: Client;
let userId: string;
let users = 0;

describe('Names and passwords of sign-in', () => {
  before(async () => {
    service = await startAuthService();
    [admin, owner] = [service.client(), service.client()];
    const { userId: adminId } = await admin.enter();
    await service.db.updateTable('user').set({ role: 'admin' }).where('id', '=', adminId).execute();
    ({ userId } = await owner.enter());
    await owner.createOrganization();
  });
  after(async () => {
    await service.stop();
    expect(service.errors).to.deep.equal([]);
  });

  const newUser = () => ({ name: 'Ada', email: `ada-${++users}@example.com`, password: 'a long password' });
  const codeOf = async (answer: Promise<{ status: number; body: any }>) => {
    const { status, body } = await answer;
    return status === 200 ? status : body.code;
  };

  it('must show something, on one line, wherever one is given', async () => {
    const { body: team } = await owner.post('/organization/create-team', { name: 'Team' });
    const slug = () => `names-${process.pid}-${++users}`;
    const gives: Record<string, (name: string) => Promise<{ status: number; body: any }>> = {
      'sign-up': (name) => service.client().post('/sign-up/email', { ...newUser(), name }),
      'update-user': (name) => owner.post('/update-user', { name }),
      'admin/create-user': (name) => admin.post('/admin/create-user', { ...newUser(), name }),
      'admin/update-user': (name) => admin.post('/admin/update-user', { userId, data: { name } }),
      'organization/create': (name) => owner.post('/organization/create', { name, slug: slug(), keepCurrentActiveOrganization: true }),
      'organization/update': (name) => owner.post('/organization/update', { data: { name } }),
      'organization/create-team': (name) => owner.post('/organization/create-team', { name }),
      'organization/update-team': (name) => owner.post('/organization/update-team', { teamId: team.id, data: { name } }),
    };
    for (const [path, give] of Object.entries(gives)) {
      for (const name of ['\u200b', '\u2800\u3164', '\u00a0', 'Ada\u202eecalevoL', 'two\nlines'])
        expect(await codeOf(give(name)), `${path} ${JSON.stringify(name)}`).to.equal('VALIDATION_ERROR');
      expect(await codeOf(give('Ada Lovelace')), path).to.equal(200);
    }
  });

  const sets: Record<string, (password: string) => Promise<{ status: number; body: any }>> = {
    '/sign-up/email': (password) => service.client().post('/sign-up/email', { ...newUser(), password }),
    '/change-password': (newPassword) => owner.post('/change-password', { currentPassword: 'a long password', newPassword }),
    '/reset-password': (newPassword) => service.client().post('/reset-password', { token: 'none', newPassword }),
    '/admin/create-user': (password) => admin.post('/admin/create-user', { ...newUser(), password }),
    '/admin/set-user-password': (newPassword) => admin.post('/admin/set-user-password', { userId, newPassword }),
  };

  for (const [path, set] of Object.entries(sets))
    it(`takes no password at ${path} that is one of the most common`, async () => {
      for (const common of ['password', 'Password123', 'qwertyuiop', '1234567890'])
        expect(await codeOf(set(common)), common).to.equal('PASSWORD_TOO_COMMON');
      expect(await codeOf(set('12345'))).to.equal('PASSWORD_TOO_SHORT');
      expect(await codeOf(set('a long password'))).to.equal(path === '/reset-password' ? 'INVALID_TOKEN' : 200);
    });

  it('asks for no digits, capitals or signs', () => {
    for (const fine of ['correct horse battery staple', 'aaaaaaaaaaaaaaaaaaaaaaaaa', 'sheafsheafsheaf'])
      expect(isCommonPassword(fine)).to.equal(false);
  });
});
