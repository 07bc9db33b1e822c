import { setTimeout as delay } from 'node:timers/promises';
import { ServiceError, WorkflowNotFoundError } from '@temporalio/client';
import { expect } from 'chai';
import { sql } from 'kysely';
import { pino } from 'pino';
import type { IntentDelivery } from '../../adapters/temporal/intent-delivery.ts';
import { OutboxRelay } from '../../adapters/temporal/outbox-relay.ts';
import { signalJobCanceled, startWorkspaceDeletion } from '../../contract/intents/definitions.ts';
import { addToOutbox } from '../../db/outbox.ts';
import type { OutboxMessage } from '../../db/outbox-message.ts';
import { inTransaction } from '../../db/transaction.ts';
import { sweepAllQueuedJobs } from '../../domain/jobs/sweep-jobs.ts';
import { sweepDeletions } from '../../domain/platform/sweep-deletions.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { nightly } from '../support/nightly.ts';
import { until } from '../support/processes.ts';
import { staysTrue } from '../support/stays-true.ts';

describe('A backlog', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
    await database.db.insertInto('organization').values({ id: 'one', name: 'One', slug: 'one', createdAt: new Date() }).execute();
  });
  after(() => database.drop());
  afterEach(() => database.db.deleteFrom('outbox').execute());

  const waiting = async () => {
    const { rows } = await sql<{ count: number }>`select count(*) from outbox`.execute(database.db);
    return rows[0]?.count ?? 0;
  };
  const write = (count: number, name = (n: number) => `j${n}`) =>
    inTransaction(database.db, async (trx) => {
      for (let n = 0; n < count; n++) addToOutbox(trx, signalJobCanceled(name(n), 'one'));
    });

  /** Relays with a Temporal that `take` stands for, until `done`. */
  async function relay(take: (message: OutboxMessage) => Promise<void>, done: () => Promise<void>): Promise<void> {
    const remove = (id: number) =>
      database.db
        .deleteFrom('outbox')
        .where('id', '=', id)
        .execute()
        .then(() => {});
    const deliver = (message: OutboxMessage) => take(message).then(() => remove(message.id));
    const stopping = new AbortController();
    const running = new OutboxRelay(database.db, { deliver, remove } as unknown as IntentDelivery, pino({ level: 'silent' })).run(
      stopping.signal,
    );
    await done().finally(() => stopping.abort());
    await running;
  }

  it('is dispatched by the process that wrote it only as far as it can at once; the relay may have the rest', async () => {
    await write(150);
    const { rows } = await sql<{ leased: number }>`select count(lease_until) as leased from outbox`.execute(database.db);
    expect(rows).to.deep.equal([{ leased: 100 }]);
  });

  it('goes out many at a time, but not too many, and one that takes long holds up no other', async () => {
    await write(400);
    await database.db.updateTable('outbox').set({ lease_until: null }).execute();
    const slow = Promise.withResolvers<void>();
    let [busy, most] = [0, 0];
    await relay(
      async ({ intent }) => {
        most = Math.max(most, ++busy);
        if (intent.workflowId === 'job-j0') await slow.promise;
        await new Promise(setImmediate);
        busy--;
      },
      async () => {
        await until(async () => (await waiting()) === 1);
        slow.resolve();
        await until(async () => (await waiting()) === 0);
      },
    );
    expect(most).to.be.within(2, 10);
  });

  it('keeps the order of each workflow', async () => {
    await write(300, (n) => `j${n % 20}`);
    await database.db.updateTable('outbox').set({ lease_until: null }).execute();
    const taken = new Map<string, number[]>();
    await relay(
      async ({ id, intent }) => {
        const ids = taken.get(intent.workflowId) ?? [];
        taken.set(intent.workflowId, [...ids, id]);
      },
      () => until(async () => (await waiting()) === 0, 60_000),
    );
    expect(taken.size).to.equal(20);
    for (const ids of taken.values())
      expect(ids)
        .to.deep.equal(ids.toSorted((a, b) => a - b))
        .and.to.have.lengthOf(15);
  });

  nightly('lets an intent that waited for another of its workflow go before all others are gone', async () => {
    const others = 1_500;
    await write(2, () => 'twice');
    await write(others);
    await database.db.updateTable('outbox').set({ lease_until: null }).execute();
    const taken: string[] = [];
    await relay(
      async ({ intent }) => {
        await delay(200);
        taken.push(intent.workflowId);
      },
      () => until(async () => (await waiting()) === 0),
    );
    expect(taken).to.have.lengthOf(others + 2);
    expect(taken.lastIndexOf('job-twice')).to.be.below(others - 100);
  });

  it('of one organization does not hold up the intent of another, whoever was first', async () => {
    const { db } = database;
    const start = (organizationId: string, n: number) => startWorkspaceDeletion({ workspaceId: `${organizationId}-${n}`, organizationId });
    await inTransaction(db, async (trx) => {
      for (let n = 0; n < 1_000; n++) addToOutbox(trx, start('large', n));
      for (const organizationId of ['small', 'other']) addToOutbox(trx, start(organizationId, 0));
    });
    await db.updateTable('outbox').set({ lease_until: null }).execute();
    const taken: string[] = [];
    await relay(
      async ({ intent }) => {
        taken.push(intent.workflowId);
        await delay(20);
      },
      () => until(async () => (await waiting()) === 0),
    );
    const [small, other] = ['small', 'other'].map((name) => taken.indexOf(`delete-workspace-${name}-0`));
    expect(
      [small, other].every((place) => place !== undefined && place >= 0 && place < 100),
      `${small}, ${other}`,
    ).to.equal(true);
  });

  it('of signals to workflows that are over goes out as fast as ever once Temporal is there again', async () => {
    const cause = Object.assign(new Error(), { code: 14, details: 'away', metadata: {} });
    let asked = 0;
    await write(100);
    await database.db.updateTable('outbox').set({ lease_until: null }).execute();
    await relay(
      async ({ intent }) => {
        if (++asked <= 10) throw new ServiceError('Failed to signal Workflow', { cause });
        throw new WorkflowNotFoundError('workflow not found', intent.workflowId, undefined);
      },
      () => until(async () => (await waiting()) === 0, 5_000),
    );
  });

  it('that Temporal refuses is tried again later and later', async () => {
    const { db } = database;
    await write(1);
    await db.updateTable('outbox').set({ lease_until: null, attempts: 4 }).execute();
    const row = () => db.selectFrom('outbox').select(['attempts', 'last_error', 'lease_until']).executeTakeFirstOrThrow();
    await relay(
      () => Promise.reject(new Error('refused')),
      () => until(async () => (await row()).attempts > 4),
    );
    const { lease_until, ...rest } = await row();
    expect(rest).to.deep.equal({ attempts: 5, last_error: 'refused' });
    expect(lease_until?.getTime()).to.be.within(Date.now() + 5_000, Date.now() + 16_000);
  });

  it('that a part of Temporal does not take holds up no other, and each of it is tried again and again', async () => {
    const { db } = database;
    const away = new Set(['job-j0', 'job-j1', 'job-j2']);
    const cause = Object.assign(new Error(), { code: 8, details: 'the shard is busy', metadata: {} });
    let refused = 0;
    const leave = () => db.updateTable('outbox').set({ lease_until: null }).where('attempts', '=', 0).execute();
    await write(3);
    await leave();
    await relay(
      async ({ intent }) => {
        if (!away.has(intent.workflowId)) return;
        refused++;
        throw new ServiceError('Failed to signal Workflow', { cause });
      },
      async () => {
        await until(() => refused >= 12, 20_000);
        await write(200, (n) => `other-${n}`);
        await leave();
        await until(async () => (await waiting()) === 3, 5_000);
        away.delete('job-j2');
        await until(async () => (await waiting()) === 2);
      },
    );
    const { rows } = await sql<{ id: string }>`select workflow_id as id from outbox order by id`.execute(db);
    expect(rows.map(({ id }) => id)).to.deep.equal(['job-j0', 'job-j1']);
  });

  it('does not keep an intent waiting that was not taken at once', async () => {
    const { db } = database;
    const others = 300;
    await write(1, () => 'late');
    await db.updateTable('outbox').set({ attempts: 1 }).execute();
    await write(others, (n) => `other-${n}`);
    await db
      .updateTable('outbox')
      .set({ lease_until: new Date(Date.now() - 1_000) })
      .execute();
    const taken: string[] = [];
    await relay(
      async ({ intent }) => {
        await delay(20);
        taken.push(intent.workflowId);
      },
      () => until(async () => (await waiting()) === 0),
    );
    expect(taken.indexOf('job-late')).to.be.below(others / 10);
  });

  it('of queued jobs without a workflow is started to the last, but no faster than Temporal takes it', async () => {
    const { db } = database;
    const [lost, batch, full] = [2_600, 500, 2_001];
    await sql`insert into job (id, organization_id, kind, status, input, max_attempts, credits, credit_month, created_at)
      select 'lost-' || n, 'one', 'text.embed', 'queued', '{}', 4, 0, '2026-01-01', now() - interval '1 hour'
      from generate_series(1, ${lost}::int) n`.execute(db);
    const sweep = sweepAllQueuedJobs(db, { limit: batch, getPlan: async () => null, signal: AbortSignal.timeout(60_000) });
    await until(async () => (await waiting()) >= full);
    await staysTrue(async () => (await waiting()) < full + batch, 1_000);
    await db.deleteFrom('outbox').execute();
    expect(await sweep).to.equal(lost);
    expect(await sweepAllQueuedJobs(db, { limit: batch, getPlan: async () => null, signal: AbortSignal.abort() })).to.equal(0);
    await db.deleteFrom('job').execute();
  });

  it('of deletions without a workflow is started after ten minutes', async () => {
    const { db } = database;
    const place = { organization_id: 'one', requested_by: null };
    const ago = (seconds: number) => new Date(Date.now() - seconds * 1_000);
    await db
      .insertInto('workspace_deletion')
      .values([
        { ...place, workspace_id: 'lost', created_at: ago(601) },
        { ...place, workspace_id: 'under-way', created_at: ago(500) },
      ])
      .execute();
    expect(await sweepDeletions(db, 10)).to.equal(1);
    const intents = await db.selectFrom('outbox').select('intent').execute();
    const input = { workspaceId: 'lost', organizationId: 'one' };
    expect(intents.map(({ intent }) => intent)).to.deep.equal([startWorkspaceDeletion(input)]);
  });
});
