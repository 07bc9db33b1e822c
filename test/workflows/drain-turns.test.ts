import { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { expect } from 'chai';
import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely';
import type { ActivityDeps } from '../../activities/deps.ts';
import { organizationActivities } from '../../activities/organizations.ts';
import { workspaceActivities } from '../../activities/workspaces.ts';
import type { Db } from '../../db/connect.ts';
import { inSlices } from '../../domain/drain.ts';
import { until } from '../support/processes.ts';

/** A database without rows, which gives nobody a connection until `open` is resolved. */
function createClosedDatabase() {
  const open = Promise.withResolvers<void>();
  let asked = 0;
  class ClosedDriver extends DummyDriver {
    override async acquireConnection() {
      asked += 1;
      await open.promise;
      return await super.acquireConnection();
    }
  }
  const db: Db = new Kysely({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new ClosedDriver(),
      createIntrospector: (each) => new PostgresIntrospector(each),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  });
  return { db, open: open.resolve, asked: () => asked };
}

describe('The drains of deleted workspaces', () => {
  it('take two slots of a process at most: the others give theirs back, and are tried again', async () => {
    const { db, open, asked } = createClosedDatabase();
    const { drainWorkspace } = workspaceActivities({ db } as ActivityDeps);
    const drain = (workspaceId: string) =>
      new MockActivityEnvironment().run(drainWorkspace, { workspaceId, organizationId: 'organization' } as never);
    const running = [drain('one'), drain('two')];
    await until(() => asked() === 2);
    const refused = await Promise.race([drain('three').catch((error: unknown) => error), until(() => asked() > 2)]);
    expect(refused).to.be.instanceOf(ApplicationFailure);
    expect(refused).to.include({ type: 'busy', nonRetryable: false, category: 'BENIGN', nextRetryDelay: '10 seconds' });
    open();
    for (const drained of await Promise.all(running)) expect(drained).to.deep.equal({ jobs: 0, documents: 0 });
    expect(await drain('three')).to.deep.equal({ jobs: 0, documents: 0 });
  });
});

describe('The steps of the deletion of organizations', () => {
  it('take four slots of a process at most: the others give theirs back, and are tried again soon', async () => {
    const { db, open, asked } = createClosedDatabase();
    const { endOrganizationJobs, deleteOrganizationRows } = organizationActivities({ db, bulkDb: db } as ActivityDeps);
    const run = (step: typeof endOrganizationJobs, organizationId: string) =>
      new MockActivityEnvironment().run(step, { organizationId } as never);
    const running = [endOrganizationJobs, endOrganizationJobs, deleteOrganizationRows, deleteOrganizationRows].map((step, place) =>
      run(step, String(place)),
    );
    await until(() => asked() === 4);
    for (const step of [endOrganizationJobs, deleteOrganizationRows]) {
      const refused = await Promise.race([run(step, 'five').catch((error: unknown) => error), until(() => asked() > 4)]);
      expect(refused).to.include({ type: 'busy', nonRetryable: false, category: 'BENIGN', nextRetryDelay: '2 seconds' });
    }
    open();
    await Promise.all(running);
    await run(endOrganizationJobs, 'five');
  });

  it('rest for seconds at most, however long a slice took: they have to say that they are alive', async () => {
    const { now } = performance;
    let minutes = 0;
    performance.now = () => 60_000 * minutes++;
    const began = Date.now();
    let slices = 0;
    try {
      const slice = async () => (++slices === 2 ? undefined : { id: 'first', created_at: new Date() });
      await inSlices(slice, AbortSignal.timeout(20_000));
    } finally {
      performance.now = now;
    }
    expect([slices, Math.round((Date.now() - began) / 5_000)]).to.deep.equal([2, 1]);
  });
});
