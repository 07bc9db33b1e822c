import { expect } from 'chai';
import { recordReplay } from '../../domain/jobs/replay-jobs.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

describe('The audit entry of a replay', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());

  it('is written once, also by attempts that run at the same time, and for each replay', async () => {
    const record = (replayRun: string) => recordReplay(database.db, { replayRun, input: { kind: 'text.embed', requestedBy: 'ada' } });
    await Promise.all(Array.from({ length: 8 }, () => record('run-one')));
    await record('run-two');
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
