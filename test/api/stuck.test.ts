import { expect } from 'chai';
import type { ApiDeps } from '../../api/deps.ts';
import { adminSystemProcedures } from '../../api/procedures/admin-system.ts';
import { findStuck } from '../../domain/platform/find-stuck.ts';
import type { Unfinished } from '../../domain/platform/list-unfinished.ts';
import { insertWorkspaceOfChunks } from '../support/chunks.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

describe('What is stuck', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
    await insertWorkspaceOfChunks(database.db, 'one', []);
    const base = { organization_id: 'one', credits: 1, credit_month: '2026-11-01', max_attempts: 4, input: '{}' };
    for (const [id, minutes] of Object.entries({ older: 20, both: 10, young: 3 })) {
      const created_at = new Date(Date.now() - minutes * 60_000);
      await database.db
        .insertInto('job')
        .values({ ...base, id, kind: 'text.embed', created_at, swept_at: new Date() })
        .execute();
    }
  });
  after(() => database.drop());

  const wedged = (work: Unfinished[]) =>
    Promise.resolve(work.filter(({ id }) => id !== 'older').map((item) => ({ ...item, reason: 'its task has failed' })));
  const options = { jobTimeoutMs: 120_000, limit: 40 };

  it('is named once, whether its row or its workflow shows it, the oldest first', async () => {
    const { stuck, ...rest } = await findStuck(database.db, { ...options, listWedged: wedged });
    expect(rest).to.deep.equal({});
    expect(stuck.map(({ id }) => id)).to.deep.equal(['older', 'both', 'young']);
    expect(stuck.map(({ reason }) => reason === 'its task has failed')).to.deep.equal([false, true, true]);
    const { stuck: first } = await findStuck(database.db, { ...options, limit: 1, listWedged: wedged });
    expect(first.map(({ id }) => id)).to.deep.equal(['older']);
  });

  it('waits because the deployment is read-only, while it is', async () => {
    await database.db.updateTable('deployment').set({ read_only: 'The database moves.' }).execute();
    const { stuck } = await findStuck(database.db, { ...options, listWedged: () => Promise.resolve([]) });
    expect(stuck.map(({ reason }) => reason)).to.deep.equal(Array(2).fill('the deployment is read-only; see npm run ops -- status'));
    await database.db.updateTable('deployment').set({ read_only: null }).execute();
  });

  it('is found in the rows while Temporal cannot be asked, which the log tells', async () => {
    const failure = new Error('unavailable');
    const warnings: unknown[] = [];
    const deps = {
      ...{ db: database.db, log: { warn: (fields: object) => warnings.push(fields) }, listWedged: () => Promise.reject(failure) },
      config: { jobs: { timeoutMs: options.jobTimeoutMs }, temporal: { namespace: 'sheaf', uiUrl: 'http://localhost' } },
    };
    const { stuck } = adminSystemProcedures(deps as unknown as ApiDeps);
    const { items } = (await stuck.handler({} as never)) as { items: { id: string }[] };
    expect(items.map(({ id }) => id)).to.deep.equal(['older', 'both']);
    expect(warnings).to.deep.equal([{ err: failure }]);
  });
});
