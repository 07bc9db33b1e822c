import { expect } from 'chai';
import type { MailKind } from '../../../db/schema.ts';
import { startTestApi, type TestApi, type TestUser } from '../../support/api.ts';
import { patientLocks, untilWaiting } from '../../support/locks.ts';

const password = 'a long password';
const sameAnswer = { status: true, message: 'If this email exists in our system, check your email for the reset link' };

describe('A mail of sign-in', () => {
  let api: TestApi;
  let owner: TestUser;
  let organizationId: string;
  let people = 0;

  before(async () => {
    // No worker runs, so that a mail stays where it was written.
    api = await startTestApi({ process: true, env: { WORKER_ENABLED: 'false', REQUIRE_EMAIL_VERIFICATION: 'true', ...patientLocks } });
    owner = await signUpVerified();
    const { body } = await post('/organization/create', { name: 'Acme', slug: 'acme' }, owner.token);
    organizationId = body.id;
  });
  after(() => api.stop());
  beforeEach(() => api.database.db.deleteFrom('mail').execute());

  const post = (path: string, body: object, token?: string) => api.request('POST', `/api/auth${path}`, { body, token });
  const newAddress = () => `person-${++people}@example.com`;
  const newUser = (email = newAddress()) => ({ name: 'Person', email, password });
  const userOf = (email: string) => api.database.db.selectFrom('user').select('id').where('email', '=', email).executeTakeFirst();
  const mailsTo = (email: string) => api.database.db.selectFrom('mail').select(['id', 'kind']).where('recipient', '=', email).execute();
  /** While `work` runs, whoever writes a mail waits. */
  async function withoutWrites(work: () => Promise<void>): Promise<void> {
    const lock = await api.database.pool.connect();
    try {
      await lock.query('begin');
      await lock.query('lock table mail in share mode');
      await work();
    } finally {
      await lock.query('rollback');
      lock.release();
    }
  }

  async function signUpVerified(): Promise<TestUser> {
    const user = newUser();
    await post('/sign-up/email', user);
    await api.database.db.updateTable('user').set({ emailVerified: true }).where('email', '=', user.email).execute();
    const { headers, body } = await post('/sign-in/email', user);
    return { id: body.user.id, email: user.email, token: headers.get('set-auth-token') ?? '' };
  }

  /** Each request that causes a mail: how to get ready, and the request, which may be sent again. */
  const causes: { name: string; kind: MailKind; prepare(): Promise<{ email: string; send: () => Promise<{ status: number }> }> }[] = [
    {
      name: 'a sign-up',
      kind: 'verification',
      prepare: async () => {
        const user = newUser();
        return { email: user.email, send: () => post('/sign-up/email', user) };
      },
    },
    {
      name: 'a request to verify again',
      kind: 'verification',
      prepare: async () => {
        const { email } = newUser();
        await post('/sign-up/email', newUser(email));
        await api.database.db.deleteFrom('mail').execute();
        return { email, send: () => post('/send-verification-email', { email }) };
      },
    },
    {
      name: 'a request to reset a password',
      kind: 'password-reset',
      prepare: async () => {
        const { email } = await signUpVerified();
        await api.database.db.deleteFrom('mail').execute();
        return { email, send: () => post('/request-password-reset', { email }) };
      },
    },
    {
      name: 'an invitation',
      kind: 'invitation',
      prepare: async () => {
        const email = newAddress();
        const invitation = { email, role: 'member', organizationId, resend: true };
        return { email, send: () => post('/organization/invite-member', invitation, owner.token) };
      },
    },
  ];

  for (const { name, kind, prepare } of causes) {
    it(`of ${name} that cannot be written fails the request, which is repeated with success`, async () => {
      const { email, send } = await prepare();
      const { pool } = api.database;
      await pool.query(`alter table mail add constraint refused_by_a_test check (kind <> '${kind}') not valid`);
      try {
        expect((await send()).status).to.equal(500);
      } finally {
        await pool.query('alter table mail drop constraint refused_by_a_test');
      }
      expect(await mailsTo(email)).to.deep.equal([]);
      expect((await send()).status).to.equal(200);
      expect((await mailsTo(email)).map((mail) => mail.kind)).to.deep.equal([kind]);
    });
  }

  it('of a sign-up is written in the transaction of the user: neither is there without the other', async () => {
    const user = newUser();
    const { pool } = api.database;
    await pool.query(`alter table mail add constraint refused_by_a_test check (kind <> 'verification') not valid`);
    expect((await post('/sign-up/email', user)).status).to.equal(500);
    await pool.query('alter table mail drop constraint refused_by_a_test');
    expect(await userOf(user.email)).to.equal(undefined);
    await pool.query(`alter table account add constraint refused_by_a_test check ("providerId" = 'none') not valid`);
    expect((await post('/sign-up/email', user)).status).to.equal(500);
    await pool.query('alter table account drop constraint refused_by_a_test');
    expect([await userOf(user.email), await mailsTo(user.email)]).to.deep.equal([undefined, []]);
  });

  it('survives the death of the API: what was answered is there, what was not may be asked again', async () => {
    const user = newUser();
    await withoutWrites(async () => {
      const lost = post('/sign-up/email', user).then(
        ({ status }) => status,
        () => 'no answer',
      );
      await untilWaiting(api.database.db, 1);
      await api.stack.kill('api');
      expect(await lost).to.equal('no answer');
    });
    await api.stack.start('api');
    expect((await post('/sign-up/email', user)).status).to.equal(200);
    expect(await userOf(user.email)).to.not.equal(undefined);
    expect(await mailsTo(user.email)).to.have.length(1);
  });

  it('does not tell whether an address has an account: neither the answer nor its time', async () => {
    const { email } = await signUpVerified();
    for (const address of [email, newAddress()]) {
      const start = performance.now();
      const { status, body } = await post('/request-password-reset', { email: address });
      expect(performance.now() - start, address).to.be.greaterThan(740);
      expect([status, body]).to.deep.equal([200, sameAnswer]);
    }
    expect(await mailsTo(email)).to.have.length(1 + 1);
  });
});
