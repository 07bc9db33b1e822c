import { getMigrations } from 'better-auth/db/migration';
import { expect } from 'chai';
import { billingOn } from './support/service.ts';
import { useAuthService } from './support/use-auth-service.ts';

describe('The schema', () => {
  const provider = { PROVIDER_A_ISSUER: 'http://localhost:1', PROVIDER_A_CLIENT_ID: 'a', PROVIDER_A_CLIENT_SECRET: 'b' };
  const service = useAuthService({ ...billingOn, ...provider });

  it('leaves better-auth nothing to migrate', async () => {
    const missing = await getMigrations(service.auth.options);
    expect(missing.toBeCreated).to.deep.equal([]);
    expect(missing.toBeAdded).to.deep.equal([]);
    expect(missing.toBeAddedIndexes).to.deep.equal([]);
    expect(missing.schemaProblems).to.deep.equal([]);
  });

  it('has an index that begins with the column of every foreign key', async () => {
    const { rows } = await service.database.pool.query(`
      select c.conrelid::regclass::text as "table", a.attname as "column"
      from pg_constraint c join pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[1]
      where c.contype = 'f' and c.connamespace = 'public'::regnamespace
        and not exists (select from pg_index i where i.indrelid = c.conrelid and i.indkey[0] = c.conkey[1])
        and c.conrelid::regclass::text in ('session', 'account', 'member', 'invitation', 'team', '"teamMember"', 'subscription')`);
    expect(rows).to.deep.equal([]);
  });
});
