import { expect } from 'chai';
import { until } from '../../support/processes.ts';
import type { Client } from './support/client.ts';
import { webOrigin } from './support/service.ts';
import { totp } from './support/totp.ts';
import { useAuthService } from './support/use-auth-service.ts';

const password = 'a long password';
let addresses = 0;

describe('What users do with their account', () => {
  const service = useAuthService();
  let admin: Client;
  let adminId: string;
  before(async () => {
    ({ client: admin, userId: adminId } = await newUser());
    await service.db.updateTable('user').set({ role: 'admin' }).where('id', '=', adminId).execute();
  });

  async function newUser({ emailVerified = true } = {}) {
    const client = service.client();
    const user = await client.enter();
    await service.db.updateTable('user').set({ emailVerified }).where('id', '=', user.userId).execute();
    return { client, ...user };
  }

  const newAddress = () => `new-${process.pid}-${++addresses}@example.com`;
  const mailsTo = (address: string) => service.mails.filter(({ to, kind }) => to === address && kind === 'email-change');
  const userOf = (userId: string) => service.db.selectFrom('user').selectAll().where('id', '=', userId).executeTakeFirst();
  const entriesOf = (userId: string) =>
    service.db.selectFrom('audit_entry').selectAll().where('target_id', '=', userId).orderBy('id').execute();

  /** The path and query of the link in the only mail to an address, as anybody opens it. */
  function openMailTo(address: string, client = service.client()) {
    const [mail, ...more] = mailsTo(address);
    expect(more, address).to.deep.equal([]);
    const link = /http\S+/.exec(mail?.text ?? '')?.[0] ?? 'no link';
    return client.get(link.slice(link.indexOf('/api/auth') + '/api/auth'.length));
  }

  describe('changing the address', () => {
    it('asks the old address, then the new one, and only then changes it', async () => {
      const { client, userId, email } = await newUser();
      const newEmail = newAddress();
      const asked = await client.post('/change-email', { newEmail: newEmail.toUpperCase(), callbackURL: `${webOrigin}/account` });
      expect([asked.status, asked.body]).to.deep.equal([200, { status: true }]);
      expect(mailsTo(newEmail)).to.deep.equal([]);
      const first = await openMailTo(email);
      expect([first.status, first.headers.get('location')]).to.deep.equal([302, `${webOrigin}/account`]);
      expect((await userOf(userId))?.email).to.equal(email);
      const second = await openMailTo(newEmail);
      expect([second.status, second.headers.get('location')]).to.deep.equal([302, `${webOrigin}/account`]);
      expect(await userOf(userId)).to.include({ email: newEmail, emailVerified: true });
      const again = await openMailTo(newEmail);
      expect(again.headers.get('location')).to.equal(`${webOrigin}/account?error=INVALID_TOKEN`);
      const [entry, ...more] = await entriesOf(userId);
      expect(more).to.deep.equal([]);
      expect(entry).to.deep.include({ action: 'user.update', target_type: 'user', metadata: { email: { from: email, to: newEmail } } });
      expect((await service.client().post('/sign-in/email', { email: newEmail, password })).status).to.equal(200);
    });

    /** Opens the last link that was sent to an address. */
    function openLast(address: string) {
      const link = /http\S+/.exec(mailsTo(address).at(-1)?.text ?? '')?.[0] ?? 'no link';
      return service.client().get(link.slice(link.indexOf('/api/auth') + '/api/auth'.length));
    }

    it('takes each link once, and only those of the last change that was asked for', async () => {
      const { client, userId, email } = await newUser();
      const [one, two] = [newAddress(), newAddress()];
      await client.post('/change-email', { newEmail: one });
      const [first] = mailsTo(email);
      await openLast(email);
      expect((await openLast(email)).headers.get('location')).to.equal(`${webOrigin}/?error=INVALID_TOKEN`);
      expect(mailsTo(one)).to.have.length(1);
      await client.post('/change-email', { newEmail: two });
      expect((await openLast(one)).headers.get('location')).to.equal(`${webOrigin}/?error=INVALID_TOKEN`);
      expect(mailsTo(email).at(-1)?.text).to.not.equal(first?.text);
      await openLast(email);
      const answers = await Promise.all([openLast(two), openLast(two), openLast(two)]);
      expect(answers.map(({ headers }) => headers.get('location')).sort()).to.deep.equal([
        `${webOrigin}/`,
        ...Array(2).fill(`${webOrigin}/?error=INVALID_TOKEN`),
      ]);
      expect(await userOf(userId)).to.include({ email: two, emailVerified: true });
      const { rows } = await service.database.pool.query('select from email_change where user_id = $1', [userId]);
      expect(rows).to.deep.equal([]);
    });

    it('keeps no link that works in the database, and none for longer than an hour', async () => {
      const { client, userId, email } = await newUser();
      const newEmail = newAddress();
      await client.post('/change-email', { newEmail });
      const { rows } = await service.database.pool.query('select * from email_change where user_id = $1', [userId]);
      const token = /token=(\w+)/.exec(mailsTo(email)[0]?.text ?? '')?.[1] ?? '';
      expect(token).to.have.length(32);
      expect(JSON.stringify(rows)).to.not.include(token);
      await service.database.pool.query(`update email_change set expires_at = expires_at - interval '1 hour' where user_id = $1`, [userId]);
      expect((await openLast(email)).headers.get('location')).to.equal(`${webOrigin}/?error=INVALID_TOKEN`);
      expect((await client.get('/change-email/confirm?token=x')).body).to.include({ status: 401, code: 'INVALID_TOKEN' });
      const elsewhere = await client.get('/change-email/confirm?token=x&callbackURL=https://evil.example');
      expect(elsewhere.body).to.include({ status: 403, code: 'INVALID_CALLBACK_URL' });
    });

    for (const [what, end] of Object.entries<(user: { client: Client; userId: string; email: string }) => Promise<unknown>>({
      'a new password': ({ client }) =>
        client.post('/change-password', { currentPassword: password, newPassword: 'the next long password' }),
      'an address that an admin gives': ({ userId }) => admin.post('/admin/update-user', { userId, data: { email: newAddress() } }),
      'a ban': ({ userId }) => admin.post('/admin/ban-user', { userId }),
      'the second factor': async ({ client }) => {
        const { body } = await client.post('/two-factor/enable', { password });
        return client.post('/two-factor/verify-totp', { code: totp(body.totpURI) });
      },
    }))
      it(`is over with ${what}`, async () => {
        for (const isConfirmed of [false, true]) {
          const user = await newUser();
          const newEmail = newAddress();
          await user.client.post('/change-email', { newEmail });
          if (isConfirmed) await openLast(user.email);
          expect(((await end(user)) as { status: number }).status).to.equal(200);
          const answer = await openLast(isConfirmed ? newEmail : user.email);
          expect(answer.headers.get('location')).to.equal(`${webOrigin}/?error=INVALID_TOKEN`);
          expect((await userOf(user.userId))?.email).to.not.equal(newEmail);
        }
      });

    it('says and sends the same if the new address is taken, and changes nothing', async () => {
      const [one, other] = [await newUser(), await newUser()];
      const free = await newUser();
      const took = async (client: Client, newEmail: string, page: object = { callbackURL: `${webOrigin}/account` }) => {
        const startedAt = performance.now();
        const { status, body } = await client.post('/change-email', { newEmail, ...page });
        expect([status, body]).to.deep.equal([200, { status: true }]);
        return performance.now() - startedAt;
      };
      expect(await took(one.client, other.email)).to.be.greaterThan(700);
      const newEmail = newAddress();
      expect(await took(free.client, newEmail)).to.be.greaterThan(700);
      const words = (address: string, wanted: string) =>
        mailsTo(address).map(({ subject, text }) => [subject, text.replaceAll(wanted, '').replace(/token=[^&]+/, '')]);
      expect(words(one.email, other.email)).to.deep.equal(words(free.email, newEmail)).and.have.length(1);
      const [asked, unasked] = [await newUser(), await newUser()];
      await took(asked.client, other.email, {});
      await took(unasked.client, newEmail, {});
      expect(words(asked.email, other.email)).to.deep.equal(words(unasked.email, newEmail)).and.have.length(1);
      expect(mailsTo(asked.email)[0]?.text).to.include(`callbackURL=${encodeURIComponent(`${webOrigin}/`)}`);
      expect((await openMailTo(one.email)).headers.get('location')).to.equal(`${webOrigin}/account`);
      const answer = await openMailTo(other.email);
      expect(answer.headers.get('location')).to.equal(`${webOrigin}/account?error=USER_ALREADY_EXISTS_USE_ANOTHER_EMAIL`);
      expect((await userOf(one.userId))?.email).to.equal(one.email);
      expect(await entriesOf(one.userId)).to.deep.equal([]);
    });

    it('is refused while the old address is not verified, for a wrong or too long one, and without a session', async () => {
      const { client, email } = await newUser({ emailVerified: false });
      const newEmail = newAddress();
      const refusals = [
        [await client.post('/change-email', { newEmail }), 403, 'EMAIL_NOT_VERIFIED'],
        [await service.client().post('/change-email', { newEmail }), 401, 'UNAUTHORIZED'],
        [await admin.post('/change-email', { newEmail: 'no address' }), 400, 'VALIDATION_ERROR'],
        [await admin.post('/change-email', { newEmail: `${'a'.repeat(250)}@example.com` }), 400, 'INVALID_EMAIL'],
        [await admin.post('/change-email', { newEmail, callbackURL: 'https://evil.example' }), 403, 'INVALID_CALLBACK_URL'],
      ] as const;
      for (const [{ status, body }, wanted, code] of refusals)
        expect([status, body], JSON.stringify(body)).to.deep.equal([wanted, { ...body, status: wanted, code, defined: true }]);
      expect([...mailsTo(newEmail), ...mailsTo(email)]).to.deep.equal([]);
    });
  });

  describe('deleting the account', () => {
    it('needs the password, ends what the user had, and is audited', async () => {
      const { client, userId, email } = await newUser();
      const owner = (await newUser()).client;
      const organizationId = await owner.createOrganization();
      await owner.bring({ client, email }, { organizationId });
      for (const body of [{}, { password: 'a wrong one' }, { password: '' }]) {
        const refused = await client.post('/delete-user', body);
        expect([refused.status, refused.body.code], JSON.stringify(body)).to.deep.equal([400, 'INVALID_PASSWORD']);
      }
      const deleted = await client.post('/delete-user', { password });
      expect([deleted.status, deleted.body]).to.deep.equal([200, { success: true, message: 'User deleted' }]);
      expect(await userOf(userId)).to.equal(undefined);
      expect((await client.get('/get-session')).body).to.equal(null);
      expect((await service.client().post('/sign-in/email', { email, password })).status).to.equal(401);
      const members = await service.db.selectFrom('member').select('userId').where('organizationId', '=', organizationId).execute();
      expect(members.map((member) => member.userId)).to.not.include(userId);
      const [entry, ...more] = await entriesOf(userId);
      expect(more).to.deep.equal([]);
      expect(entry).to.deep.include({ action: 'user.remove', actor_id: userId, metadata: { email, role: 'user' } });
    });

    it('forgets the address in invitations that the user has answered, and in no others', async () => {
      const [{ client, email }, owner, other] = [await newUser(), (await newUser()).client, await newUser()];
      const organizationId = await owner.createOrganization();
      await owner.bring({ client, email }, { organizationId });
      await owner.bring(other, { organizationId });
      const again = await owner.createOrganization();
      await owner.post('/organization/invite-member', { organizationId: again, email, role: 'member' });
      const sentTo = async (address: string) =>
        (await service.db.selectFrom('invitation').select('status').where('email', '=', address).orderBy('createdAt').execute()).map(
          ({ status }) => status,
        );
      expect(await sentTo(email)).to.deep.equal(['accepted', 'pending']);
      expect((await client.post('/delete-user', { password })).status).to.equal(200);
      expect(await sentTo(email), 'one that waits is to the address, whoever has it').to.deep.equal(['pending']);
      expect(await sentTo(other.email)).to.deep.equal(['accepted']);
    });

    it('is refused while the user is the only owner of an organization, and nothing is lost', async () => {
      const [{ client, email }, second] = [await newUser(), await newUser()];
      const organizationId = await client.createOrganization();
      for (const others of [false, true]) {
        if (others) await client.bring(second, { organizationId, role: 'admin' });
        const refused = await client.post('/delete-user', { password });
        expect(refused.body).to.include({ status: 409, code: 'LAST_OWNER', defined: true });
        expect((await client.get('/get-session')).body.user).to.include({ email });
        expect((await service.client().post('/sign-in/email', { email, password })).status).to.equal(200);
      }
      await service.db.updateTable('member').set({ role: 'owner' }).where('userId', '=', second.userId).execute();
      expect((await client.post('/delete-user', { password })).status).to.equal(200);
    });

    it('is refused truly while an organization that needs the user is being deleted', async () => {
      const { client } = await newUser();
      const organizationId = await client.createOrganization();
      await service.db.insertInto('organization_deletion').values({ organization_id: organizationId, requested_by: null }).execute();
      const refused = await client.post('/delete-user', { password });
      expect(refused.body).to.include({ status: 409, code: 'OWNED_ORGANIZATION_BEING_DELETED', defined: true });
      await service.db.deleteFrom('organization').where('id', '=', organizationId).execute();
      expect((await client.post('/delete-user', { password })).status).to.equal(200);
    });

    it('goes on after a deadlock of two members of the same organizations', async () => {
      const owner = (await newUser()).client;
      const create = () => owner.createOrganization();
      const [a, b, ofFirst, ofSecond] = [await create(), await create(), await create(), await create()];
      const [first, second] = [await newUser(), await newUser()];
      // A deletion locks the organizations in the order of the memberships. The one between, which is held, lets both take their first.
      for (const [{ userId }, ...organizations] of [[first, a, ofFirst, b] as const, [second, b, ofSecond, a] as const])
        for (const organizationId of organizations)
          await service.db
            .insertInto('member')
            .values({ id: `${userId}-${organizationId}`, userId, organizationId, role: 'member', createdAt: new Date() })
            .execute();
      const count = async (query: string) => Number((await service.database.pool.query(`select count(*) ${query}`)).rows[0].count);
      const held = await service.database.pool.connect();
      await held.query('begin');
      await held.query('select from organization where id in ($1, $2) for no key update', [ofFirst, ofSecond]);
      const deletions = [first, second].map(({ client }) => client.post('/delete-user', { password }));
      const waiting = `from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      await until(async () => (await count(waiting)) === 2);
      await held.query('rollback');
      held.release();
      expect((await Promise.all(deletions)).map(({ status, body }) => [status, body.message])).to.deep.equal([
        [200, 'User deleted'],
        [200, 'User deleted'],
      ]);
      expect([await userOf(first.userId), await userOf(second.userId)]).to.deep.equal([undefined, undefined]);
      // Postgres counts it a little later.
      await until(async () => (await count('from pg_stat_database where datname = current_database() and deadlocks > 0')) === 1);
    });

    it('takes a session that began less than a day ago if the user has no password', async () => {
      const { client, userId } = await newUser();
      await service.database.pool.query(`delete from account where "userId" = $1`, [userId]);
      const old = { createdAt: new Date(Date.now() - 25 * 60 * 60 * 1000) };
      await service.db.updateTable('session').set(old).where('userId', '=', userId).execute();
      expect((await client.post('/delete-user')).body).to.include({ status: 400, code: 'SESSION_EXPIRED' });
      await service.db.updateTable('session').set({ createdAt: new Date() }).where('userId', '=', userId).execute();
      expect((await client.post('/delete-user')).status).to.equal(200);
      expect(await userOf(userId)).to.equal(undefined);
    });
  });
});
