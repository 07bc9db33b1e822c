import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { sql } from 'kysely';
import { lateValue } from './late-value.ts';
import { runProgram } from './processes.ts';
import { expectOk } from './requests.ts';
import { useApi } from './use-api.ts';

describe('What the tests stand on', () => {
  it('has values that say so when they are used too early, and then are what was made', () => {
    const [value, set] = lateValue<{ name: string; fold?: number }>('letter');
    expect(() => value.name).to.throw('There is no letter');
    set({ name: 'one' });
    value.fold = 2;
    expect({ ...value }).to.deep.equal({ name: 'one', fold: 2 });
    set({ name: 'two' });
    expect([value.name, 'fold' in value]).to.deep.equal(['two', false]);
  });

  it('outlives what the tests of a file leave behind, and prints it', async () => {
    const script = `
      import { endTrackingRejections, trackRejections } from './test/support/rejections.ts';
      trackRejections();
      endTrackingRejections('one.test.ts');
      // As mocha does before it loads the next file.
      process.removeAllListeners('unhandledRejection');
      Promise.reject(new Error('left behind'));
      setImmediate(() => {
        setImmediate(() => console.log('goes on'));
        throw new Error('thrown late');
      });`;
    const run = runProgram(process.execPath, ['--input-type=module', '--eval', script]);
    expect((await run.exited).code, run.stderr()).to.equal(0);
    expect(run.stdout()).to.equal('goes on\n');
    for (const left of ['left behind', 'thrown late']) expect(run.stderr()).to.include(`after the tests of one.test.ts:\nError: ${left}`);
  });

  describe('gives an API', () => {
    const { api, tenant } = useApi({ env: { WORKER_ENABLED: 'false' }, tenant: 'of each test', check: 'at the end' });
    const seen = new Set<string>();
    // The API stops after this.
    after(async () => expect((await fetch(`${api.url}/readyz`)).status).to.equal(200));

    for (const test of ['one test', 'another test'])
      it(`with a tenant to ${test}`, () => {
        expect(seen).not.to.include(tenant.organizationId);
        seen.add(tenant.organizationId);
      });

    it('with users whose rows are those of a sign-up', async () => {
      const body = { name: 'Ada', email: `${randomUUID()}@example.com`, password: 'a long password' };
      const made = await api.signUp();
      const signedUp = await expectOk(api.request('POST', '/api/auth/sign-up/email', { body }));
      const token = signedUp.headers.get('set-auth-token') ?? '';
      expect(await rowsOf(made.id)).to.deep.equal(await rowsOf(signedUp.body.user.id));
      expect(made.token).to.have.length(token.length);
      const { email } = made;
      await expectOk(api.request('POST', '/api/auth/sign-in/email', { body: { email, password: body.password } }));
      expect((await expectOk(api.request('GET', '/api/v1/me', { token: made.token }))).body.email).to.equal(email);
    });

    async function rowsOf(userId: string): Promise<unknown[]> {
      const { rows } = await sql<{ row: Record<string, unknown> }>`
        select to_jsonb("user") as row from "user" where id = ${userId}
        union all select to_jsonb(account) from account where "userId" = ${userId}
        union all select to_jsonb(session) from session where "userId" = ${userId}`.execute(api.database.db);
      const different = ['id', 'userId', 'accountId', 'token', 'email', 'password', 'createdAt', 'updatedAt', 'expiresAt'];
      return rows.map(({ row }) => ({ ...row, ...Object.fromEntries(different.map((column) => [column, typeof row[column]])) }));
    }
  });
});
