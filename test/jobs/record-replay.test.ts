import { expect } from 'chai';
import { beginReplay, isRequestedReplay, requestReplay } from '../../domain/jobs/replay-jobs.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

describe('The audit entry of a replay', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());

  it('is written once, also by attempts that run at the same time, and for each replay', async () => {
    const { db } = database;
    const input = { kind: 'text.embed' as const, requestedBy: 'ada' };
    for (const id of ['one', 'two']) await requestReplay(db, { id, input });
    const begin = (id: string, replayRun: string, given: object = input) => beginReplay(db, { id, replayRun, input: given });
    expect(await Promise.all(Array.from({ length: 8 }, () => begin('one', 'run-one')))).to.deep.equal(Array(8).fill(true));
    expect(await begin('two', 'run-two', { ...input, limit: 5 }), 'another input').to.equal(false);
    expect(await begin('one', 'run-three'), 'another run').to.equal(false);
    expect(await begin('three', 'run-three'), 'not asked for').to.equal(false);
    expect(await begin('two', 'run-two')).to.equal(true);
    expect(await Promise.all(['run-one', 'run-two', 'run-three'].map((run) => isRequestedReplay(db, run)))).to.deep.equal([
      true,
      true,
      false,
    ]);
    await requestReplay(db, { id: 'late', input });
    await db
      .updateTable('job_replay')
      .set({ created_at: new Date(Date.now() - 61 * 60_000) })
      .execute();
    expect(await begin('late', 'run-late'), 'long after it was asked for').to.equal(false);
    expect(await begin('one', 'run-one'), 'again, long after it has begun').to.equal(true);
    const entries = await database.db
      .selectFrom('audit_entry')
      .select(['target_id', 'actor_email', 'metadata'])
      .where('action', '=', 'job.replay')
      .orderBy('target_id')
      .execute();
    const entry = { actor_email: 'ada', metadata: { kind: 'text.embed', requestedBy: 'ada' } };
    expect(entries).to.deep.equal([
      { target_id: 'run-one', ...entry },
      { target_id: 'run-two', ...entry },
    ]);
  });
});
