import { expect } from 'chai';
import { sql } from 'kysely';
import { createSharedPlaces } from '../../api/stream-places.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { until } from '../support/processes.ts';

describe('The places of job streams that processes share', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase({ poolSize: 20 });
  });
  after(() => database.drop());
  beforeEach(() => database.db.deleteFrom('job_stream_lease').execute());

  const leases = () => database.db.selectFrom('job_stream_lease').selectAll().orderBy('place').execute();
  const endLeases = () => database.db.updateTable('job_stream_lease').set({ expires_at: sql`now() - interval '1 second'` }).execute();

  it('let five streams of a user in, whichever process they come through and however many ask at once', async () => {
    const processes = [createSharedPlaces(database.db), createSharedPlaces(database.db)];
    const asked = await Promise.all(Array.from({ length: 40 }, (_, i) => processes[i % 2]?.take('ada')));
    expect(asked.filter(Boolean)).to.have.length(5);
    expect((await leases()).map(({ place }) => place)).to.deep.equal([1, 2, 3, 4, 5]);
    expect(await processes[0]?.take('bob')).to.not.equal(undefined);
  });

  it('are not taken twice by streams that all choose the same one at the same moment', async () => {
    const places = createSharedPlaces(database.db);
    const blocker = await database.db.startTransaction().execute();
    const ended = { user_id: 'ada', place: 1, holder: 'nobody', expires_at: new Date(Date.now() - 1_000) };
    await blocker.insertInto('job_stream_lease').values(ended).execute();
    const asked = Array.from({ length: 10 }, () => places.take('ada'));
    // Each sees five free places, and waits for the first, which another transaction is about to write.
    await until(async () => {
      const waiting = await sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(
        database.db,
      );
      return waiting.rows.length === 10;
    });
    await blocker.commit().execute();
    expect((await Promise.all(asked)).filter(Boolean)).to.have.length(5);
    expect(new Set((await leases()).map(({ holder }) => holder))).to.have.length(5);
  });

  it('are free again once a stream leaves, and when its process has died', async () => {
    const places = createSharedPlaces(database.db, { perUser: 1 });
    const first = await places.take('ada');
    expect(await places.take('ada')).to.equal(undefined);
    await first?.leave();
    const second = await places.take('ada');
    expect(second).to.not.equal(undefined);
    await endLeases();
    expect(await places.take('ada')).to.not.equal(undefined);
  });

  it('stay with the stream that renews its lease, and are lost by one that comes too late', async () => {
    const places = createSharedPlaces(database.db, { perUser: 1 });
    const late = await places.take('ada');
    await endLeases();
    expect(await late?.keep()).to.equal(true);
    expect((await leases())[0]?.expires_at.getTime()).to.be.greaterThan(Date.now() + 60_000);
    expect(await places.take('ada')).to.equal(undefined);

    await endLeases();
    const successor = await places.take('ada');
    expect(await late?.keep()).to.equal(false);
    await late?.leave();
    expect(await leases()).to.have.length(1);
    expect(await successor?.keep()).to.equal(true);
  });
});
