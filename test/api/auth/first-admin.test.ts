import { expect } from 'chai';
import type { Environment } from '../../../base/config/environment.ts';
import { type AuthService, startAuthService } from './support/service.ts';

const password = 'a long password';

describe('The first platform admin', () => {
  let service: AuthService;
  async function start(environment: Environment) {
    service = await startAuthService(environment);
  }
  afterEach(() => service.stop());

  const signUp = (email: string) => service.client().post('/sign-up/email', { name: 'Somebody', email, password });
  const signIn = (email: string) => service.client().post('/sign-in/email', { email, password });
  async function admins(): Promise<string[]> {
    const rows = await service.db.selectFrom('user').select('email').where('role', '=', 'admin').execute();
    return rows.map(({ email }) => email);
  }
  async function verify(email: string) {
    const mail = service.mails.findLast(({ to }) => to === email);
    const link = /http\S+/.exec(mail?.text ?? '')?.[0] ?? 'no link';
    expect((await service.client().get(link.slice(link.indexOf('/verify-email')))).status).to.be.below(400);
  }

  it('is whoever signs up first outside of production, as the log and the audit log say', async () => {
    await start({ NODE_ENV: 'development', FIRST_ADMIN_EMAIL: '' });
    const client = service.client();
    const { userId, email } = await client.signUp();
    expect(await admins()).to.deep.equal([email]);
    expect((await client.get('/admin/list-users')).status).to.equal(200);
    await signUp('second@example.com');
    await signIn('second@example.com');
    expect(await admins()).to.deep.equal([email]);
    expect(service.warnings.map(({ msg, userId: id }) => [msg, id])).to.deep.equal([
      ['there was no platform admin: this user is the first one now', userId],
    ]);
    const entries = await service.db.selectFrom('audit_entry').selectAll().where('action', '=', 'user.role').execute();
    expect(entries.map(({ target_id, actor_id, metadata }) => [target_id, actor_id, metadata])).to.deep.equal([
      [userId, null, { from: 'user', to: 'admin', by: 'first-admin' }],
    ]);
  });

  it('is not who signed up first before the address was verified, if addresses are', async () => {
    await start({ NODE_ENV: 'development', FIRST_ADMIN_EMAIL: '', REQUIRE_EMAIL_VERIFICATION: 'true' });
    await signUp('first@example.com');
    await signUp('second@example.com');
    expect(await admins()).to.deep.equal([]);
    await verify('second@example.com');
    expect((await signIn('first@example.com')).status).to.equal(403);
    expect(await admins()).to.deep.equal([]);
    expect((await signIn('second@example.com')).status).to.equal(200);
    expect(await admins()).to.deep.equal(['second@example.com']);
    await verify('first@example.com');
    expect((await signIn('first@example.com')).status).to.equal(200);
    expect(await admins()).to.deep.equal(['second@example.com']);
  });

  it('is the user of FIRST_ADMIN_EMAIL and nobody else, once the address is verified, in production too', async () => {
    await start({
      ...{ NODE_ENV: 'production', SMTP_URL: 'smtp://127.0.0.1:9', SERVICE_TOKEN: 'a-token-of-this-test-a-token-of-this-test' },
      ...{ REQUIRE_EMAIL_VERIFICATION: 'false', FIRST_ADMIN_EMAIL: 'Root@Example.com' },
    });
    await signUp('first@example.com');
    await signUp('root@example.com');
    expect(await admins()).to.deep.equal([]);
    await service.db.updateTable('user').set({ emailVerified: true }).execute();
    await signIn('first@example.com');
    expect(await admins()).to.deep.equal([]);
    await signIn('root@example.com');
    expect(await admins()).to.deep.equal(['root@example.com']);
  });

  it('is nobody in production without FIRST_ADMIN_EMAIL', async () => {
    await start({
      ...{ NODE_ENV: 'production', SMTP_URL: 'smtp://127.0.0.1:9', SERVICE_TOKEN: 'a-token-of-this-test-a-token-of-this-test' },
      ...{ REQUIRE_EMAIL_VERIFICATION: 'false', FIRST_ADMIN_EMAIL: '' },
    });
    await signUp('first@example.com');
    await service.db.updateTable('user').set({ emailVerified: true }).execute();
    expect((await signIn('first@example.com')).status).to.equal(200);
    expect(await admins()).to.deep.equal([]);
  });
});
