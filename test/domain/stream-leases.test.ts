import { expect } from 'chai';
import { sql } from 'kysely';
import { createLeases } from '../../api/streams/leases.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { until } from '../support/processes.ts';

const ofUser = (userId: string, streamId?: string, onLost = () => {}) => ({ userId, streamId, onLost });

describe('The leases of job streams that processes share', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase({ poolSize: 20 });
  });
  after(() => database.drop());
  beforeEach(() => database.db.deleteFrom('job_stream_lease').execute());

  const rows = () => database.db.selectFrom('job_stream_lease').selectAll().orderBy('slot').execute();
  const endLeases = () => database.db.updateTable('job_stream_lease').set({ expires_at: sql`now() - interval '1 second'` }).execute();

  it('let five streams of a user in, whichever process they come through and however many ask at once', async () => {
    const processes = [createLeases(database.db), createLeases(database.db)];
    const asked = await Promise.all(Array.from({ length: 40 }, (_, i) => processes[i % 2]?.acquire(ofUser('ada'))));
    expect(asked.filter(Boolean)).to.have.length(5);
    expect((await rows()).map(({ slot }) => slot)).to.deep.equal([1, 2, 3, 4, 5]);
    expect(await processes[0]?.acquire(ofUser('bob'))).to.not.equal(undefined);
  });

  it('are not taken twice by streams that all choose the same one at the same moment', async () => {
    const leases = createLeases(database.db);
    const blocker = await database.db.startTransaction().execute();
    const ended = { user_id: 'ada', slot: 1, holder: 'nobody', expires_at: new Date(Date.now() - 1_000) };
    await blocker.insertInto('job_stream_lease').values(ended).execute();
    const asked = Array.from({ length: 10 }, () => leases.acquire(ofUser('ada')));
    // Each sees five free leases, and waits for the first, which another transaction is about to write.
    await until(async () => {
      const waiting = await sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(
        database.db,
      );
      return waiting.rows.length === 10;
    });
    await blocker.commit().execute();
    expect((await Promise.all(asked)).filter(Boolean)).to.have.length(5);
    expect(new Set((await rows()).map(({ holder }) => holder))).to.have.length(5);
  });

  it('are free again once a stream releases them, and when its process has died', async () => {
    const leases = createLeases(database.db, { perUser: 1 });
    const first = await leases.acquire(ofUser('ada'));
    expect(await leases.acquire(ofUser('ada'))).to.equal(undefined);
    await first?.release();
    const second = await leases.acquire(ofUser('ada'));
    expect(second).to.not.equal(undefined);
    await endLeases();
    expect(await leases.acquire(ofUser('ada'))).to.not.equal(undefined);
  });

  it('stay with the stream that renews its lease, and are lost by one that comes too late', async () => {
    const leases = createLeases(database.db, { perUser: 1 });
    const late = await leases.acquire(ofUser('ada'));
    await endLeases();
    expect(await late?.renew()).to.equal(true);
    expect((await rows())[0]?.expires_at.getTime()).to.be.greaterThan(Date.now() + 60_000);
    expect(await leases.acquire(ofUser('ada'))).to.equal(undefined);

    await endLeases();
    const successor = await leases.acquire(ofUser('ada'));
    expect(await late?.renew()).to.equal(false);
    await late?.release();
    expect(await rows()).to.have.length(1);
    expect(await successor?.renew()).to.equal(true);
  });

  describe('of a stream that has an id', () => {
    it('pass to its next connection, in any process, and to no other stream or user', async () => {
      const [one, other] = [createLeases(database.db, { perUser: 2 }), createLeases(database.db, { perUser: 2 })];
      const broken = await one.acquire(ofUser('ada', 'phone'));
      await one.acquire(ofUser('ada', 'laptop'));
      expect(await other.acquire(ofUser('ada', 'tablet'))).to.equal(undefined);
      expect(await other.acquire(ofUser('ada'))).to.equal(undefined);
      const bobs = await other.acquire(ofUser('bob', 'phone'));
      expect(await broken?.renew(), "another user's stream of this id").to.equal(true);

      const successor = await other.acquire(ofUser('ada', 'phone'));
      expect(await broken?.renew()).to.equal(false);
      await broken?.release();
      expect(await successor?.renew()).to.equal(true);
      expect(await bobs?.renew()).to.equal(true);
      expect((await rows()).filter(({ user_id }) => user_id === 'ada')).to.have.length(2);
    });

    it('are one, also if several connections of it come at once', async () => {
      const leases = createLeases(database.db);
      const asked = await Promise.all(Array.from({ length: 8 }, () => leases.acquire(ofUser('ada', 'phone'))));
      expect(asked.every(Boolean)).to.equal(true);
      await leases.acquire(ofUser('ada', 'phone'));
      expect(await rows()).to.have.length(1);
    });

    it('end their earlier connection at once if it is of the same process', async () => {
      const leases = createLeases(database.db, { perUser: 1 });
      const lost: string[] = [];
      const first = await leases.acquire(ofUser('ada', 'phone', () => lost.push('first')));
      expect(await leases.acquire(ofUser('bob', 'phone'))).to.not.equal(undefined);
      expect(lost).to.deep.equal([]);
      const second = await leases.acquire(ofUser('ada', 'phone', () => lost.push('second')));
      expect(lost).to.deep.equal(['first']);
      await first?.release();
      expect([await first?.renew(), await second?.renew()]).to.deep.equal([false, true]);
      expect(await leases.acquire(ofUser('ada', 'laptop'))).to.equal(undefined);
      await second?.release();
      expect(await leases.acquire(ofUser('ada', 'laptop'))).to.not.equal(undefined);
      expect(lost).to.deep.equal(['first']);
    });
  });
});
