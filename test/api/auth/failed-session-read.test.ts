import { expect } from 'chai';
import { sql } from 'kysely';
import { useApi } from '../../support/use-api.ts';

describe('A request to sign-in whose session cannot be read', () => {
  const { api, tenant } = useApi({ env: { WORKER_ENABLED: 'false' } });

  it('is told that the service is unavailable, and never that it may not', async () => {
    const { db } = api.database;
    const { token } = tenant.owner;
    await sql`alter table session rename to stored_session`.execute(db);
    await sql`create sequence reads`.execute(db);
    await sql`create function may_read(failing int) returns boolean language plpgsql cost 10000 as $$
      begin
        if nextval('reads') = failing then raise exception using errcode = '57P01', message = 'the server shuts down'; end if;
        return true;
      end $$`.execute(db);
    const statuses: number[] = [];
    for (const failing of [1, 2, 3, 4]) {
      const readable = sql`select * from stored_session where may_read(${sql.lit(failing)})`;
      await sql`create or replace view session as ${readable}`.execute(db);
      await sql`alter sequence reads restart`.execute(db);
      const path = `/api/auth/organization/list-members?organizationId=${tenant.organizationId}`;
      statuses.push((await api.request('GET', path, { token })).status);
    }
    expect(statuses).to.include(503);
    expect(statuses.filter((status) => status !== 503 && status !== 200)).to.deep.equal([]);
  });
});
