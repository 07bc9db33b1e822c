import { expect } from 'chai';
import { sql } from 'kysely';
import { useApi } from '../../support/use-api.ts';

describe('Mails that anybody can ask for', () => {
  const { api, tenant } = useApi({ env: { WORKER_ENABLED: 'false' }, check: 'at the end' });

  const ask = (path: string, email: string) => api.request('POST', `/api/auth${path}`, { body: { email } });
  const count = async (kind: string, recipient: string) => {
    const { rows } = await sql`select from mail where kind = ${kind} and recipient = ${recipient}`.execute(api.database.db);
    return rows.length;
  };

  it('reach one address five times an hour, each kind by itself, and the response does not tell', async () => {
    const { email } = tenant.owner;
    const kinds = { 'password-reset': '/request-password-reset', verification: '/send-verification-email' };
    for (const [kind, path] of Object.entries(kinds)) {
      const answers = await Promise.all(Array.from({ length: 16 }, () => ask(path, email)));
      expect(new Set(answers.map(({ status, body }) => JSON.stringify([status, body])))).to.have.length(1);
      expect(answers[0]?.status).to.equal(200);
      expect(await count(kind, email)).to.equal(5);
    }
    const other = await api.signUp();
    await ask('/request-password-reset', other.email);
    expect(await count('password-reset', other.email)).to.equal(1);
    await sql`update recent_mail set since = since - interval '1 hour'`.execute(api.database.db);
    await ask('/request-password-reset', email);
    expect(await count('password-reset', email)).to.equal(6);
    // The count of the other address is over and was cleared away.
    const { rows } = await sql`select from recent_mail`.execute(api.database.db);
    expect(rows).to.have.length(1);
  });
});
