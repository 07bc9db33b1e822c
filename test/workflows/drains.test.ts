import { MockActivityEnvironment } from '@temporalio/testing';
import { expect } from 'chai';
import { sql } from 'kysely';
import type { ActivityDeps } from '../../activities/deps.ts';
import { workspaceActivities } from '../../activities/workspaces.ts';
import { createDb, createPool, type Db } from '../../db/connect.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { until } from '../support/processes.ts';
import { staysTrue } from '../support/stays-true.ts';

describe('Drains of deleted workspaces', () => {
  let database: TestDatabase;
  let db: Db;
  before(async () => {
    database = await createTestDatabase();
    db = createDb(createPool({ url: database.url, poolSize: 12, work: 'worker' }));
  });
  after(async () => {
    await db.destroy();
    await database.drop();
  });

  it('run two at once in a process, the others wait', async () => {
    const ids = Array.from({ length: 6 }, (_, n) => `workspace-${n}`);
    await sql`insert into organization (id, name, slug, "createdAt") values ('one', 'One', 'one', now())`.execute(db);
    const rows = ids.map((id) => ({ workspace_id: id, organization_id: 'one' }));
    await db.insertInto('workspace_deletion').values(rows).execute();
    const activities = workspaceActivities({ db } as ActivityDeps);
    const locked = await db.startTransaction().execute();
    await sql`lock table job in access exclusive mode`.execute(locked);

    const drains = ids.map((workspaceId) =>
      new MockActivityEnvironment().run(activities.drainWorkspace, { workspaceId, organizationId: 'one' }),
    );
    const waiting = async () =>
      (await sql`select from pg_locks where not granted and relation = 'job'::regclass`.execute(locked)).rows.length;
    await until(async () => (await waiting()) > 0);
    await staysTrue(async () => (await waiting()) <= 2, 1_000);
    await locked.commit().execute();

    expect(await Promise.all(drains)).to.deep.equal(ids.map(() => ({ jobs: 0, documents: 0 })));
  });
});
