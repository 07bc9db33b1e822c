import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { expect } from 'chai';
import { sql } from 'kysely';
import { staysTrue } from '../support/stays-true.ts';
import { callOver } from '../support/transports.ts';
import { useApi } from '../support/use-api.ts';

describe('Large responses of a user', () => {
  const { api, tenant } = useApi({ env: { WORKER_ENABLED: 'false' } });

  it('are those of sign-in, too', async () => {
    const { owner, organizationId } = tenant;
    const { db } = api.database;
    // Migration 0012 would count them as those of one day.
    await sql`alter table invitation disable trigger user`.execute(db);
    await sql`insert into invitation (id, "organizationId", email, role, status, "expiresAt", "createdAt", "inviterId")
      select 'invitation ' || at, ${organizationId}, rpad(at || '@', 250, 'x'), 'member', 'canceled', now(), now(), ${owner.id}
      from generate_series(1, 10000) as at`.execute(db);
    await sql`insert into job (id, organization_id, kind, status, input, max_attempts, credits, credit_month, finished_at)
      select gen_random_uuid()::text, ${organizationId}, 'text.summarize', 'failed', jsonb_build_object('maxSentences', 5, 'text', repeat('a', 200000)), 1, 0, now(), now()
      from generate_series(1, 20) as at`.execute(db);
    const member = await api.signUp();
    await api.addMember(organizationId, member, 'member');

    const path = `/api/auth/organization/list-invitations?organizationId=${organizationId}`;
    const unread = request(`${api.url}${path}`, { agent: false, headers: { authorization: `Bearer ${owner.token}` } });
    unread.on('error', () => {}).end();
    const [response] = (await once(unread, 'response')) as [IncomingMessage];
    expect(response.pause().statusCode).to.equal(200);

    const list = ({ token }: { token: string }) => callOver(api, 'REST', 'jobs.list', { organizationId, limit: 100 }, { token });
    let isServed = false;
    const own = list(owner).finally(() => {
      isServed = true;
    });
    expect((await list(member)).status).to.equal(200);
    await staysTrue(() => !isServed, 300);
    unread.destroy();
    expect((await own).status).to.equal(200);
  });
});
