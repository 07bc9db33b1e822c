import { expect } from 'chai';
import { sql } from 'kysely';
import { loadServerConfig } from '../../base/config/server.ts';
import { shownAfterExpiry } from '../../domain/api-keys/api-key.ts';
import {
  auditEntries,
  type Deleted,
  deleteInBatches,
  type Expired,
  finishedJobs,
  idempotencyKeys,
  mails,
  paymentEvents,
} from '../../domain/retention.ts';
import { createClockedDatabase } from '../support/clocked-database.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { until } from '../support/processes.ts';

describe('The deletion of rows past their time', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());

  const quietly = { onProgress() {}, signal: new AbortController().signal };
  const count = async (table: string) => {
    const { rows } = await sql<{ count: number }>`select count(*) from ${sql.table(table)}`.execute(database.db);
    return rows[0]?.count;
  };

  it('goes on after the last row if it is broken off, also among rows of one moment, and counts each once', async () => {
    const { db } = database;
    await sql`insert into audit_entry (id, action, created_at)
      select 'a' || n, 'x', case when n <= 4500 then now() - interval '400 days' else now() end from generate_series(1, 4600) n`.execute(
      db,
    );
    const stop = new AbortController();
    let reached: Deleted | undefined;
    const onProgress = (progress: Deleted) => {
      reached = progress;
      stop.abort();
    };
    const broken = deleteInBatches(db, auditEntries(100), { before: undefined, onProgress, signal: stop.signal });
    expect(await broken.catch((error) => error.name)).to.equal('AbortError');
    expect(reached?.deleted).to.equal(2_000);
    expect(await deleteInBatches(db, auditEntries(100), { before: reached, ...quietly })).to.equal(4_500);
    expect(await count('audit_entry')).to.equal(100);
  });

  it('leaves a row that somebody works on, and does not wait for it', async () => {
    const { db } = database;
    await db
      .insertInto('user')
      .values({ id: 'u', name: 'U', email: 'u@example.com' } as never)
      .execute();
    await sql`insert into idempotency_key (user_id, operation, key, request_hash, created_at)
      select 'u', 'o', 'k' || n, 'h', now() - interval '2 days' from generate_series(1, 3) n`.execute(db);
    await db.transaction().execute(async (trx) => {
      await sql`select from idempotency_key where key = 'k2' for update`.execute(trx);
      expect(await deleteInBatches(db, idempotencyKeys, { before: undefined, ...quietly })).to.equal(2);
    });
    expect(await deleteInBatches(db, idempotencyKeys, { before: undefined, ...quietly })).to.equal(1);
    expect(await count('idempotency_key')).to.equal(0);
  });

  it('keeps jobs for 30 days and audit entries for 365 by default, to the minute', async () => {
    const { db } = database;
    await sql`delete from audit_entry`.execute(db);
    await db.insertInto('organization').values({ id: 'o', name: 'O', slug: 'one', createdAt: new Date() }).execute();
    const ages = (days: number) =>
      sql`(values ('over', ${days * 1_440 + 1}::int), ('under', ${days * 1_440 - 1}::int)) as age (id, minutes)`;
    await sql`insert into audit_entry (id, action, created_at)
      select id, 'x', now() - make_interval(mins => minutes) from ${ages(365)}`.execute(db);
    await sql`insert into job (id, organization_id, kind, status, input, max_attempts, credits, credit_month, finished_at)
      select id, 'o', 'text.embed', 'succeeded', '{}', 4, 0, '2026-01-01', now() - make_interval(mins => minutes) from ${ages(30)}`.execute(
      db,
    );
    const { auditRetentionDays } = loadServerConfig({ NODE_ENV: 'test', AUTH_SECRET: 'x'.repeat(40), DATABASE_URL: 'postgres://unused' });
    for (const rows of [auditEntries(auditRetentionDays), finishedJobs]) {
      expect(await deleteInBatches(db, rows, { before: undefined, ...quietly })).to.equal(1);
      const left = await sql<{ id: string }>`select id from ${sql.table(rows.table)} where id in ('over', 'under')`.execute(db);
      expect(left.rows).to.deep.equal([{ id: 'under' }]);
    }
  });
});

describe('A legal hold', () => {
  it('keeps the finished jobs of what it holds, and the audit entries of its organization', async () => {
    const { db, drop } = await createTestDatabase();
    try {
      for (const id of ['all', 'one', 'none']) {
        await sql`insert into organization (id, name, slug, "createdAt") values (${id}, ${id}, ${id}, now())`.execute(db);
        for (const workspace of [`${id}-a`, `${id}-b`]) {
          await sql`insert into workspace (id, organization_id, name, slug) values (${workspace}, ${id}, ${workspace}, ${workspace})`.execute(
            db,
          );
          await sql`insert into job (id, organization_id, workspace_id, kind, status, input, max_attempts, credits, credit_month, finished_at)
            values (${workspace}, ${id}, ${workspace}, 'text.embed', 'succeeded', '{}', 4, 0, '2026-01-01', now() - interval '40 days')`.execute(
            db,
          );
        }
        await sql`delete from audit_entry where organization_id = ${id}`.execute(db);
        await sql`insert into audit_entry (id, organization_id, action, created_at) values (${id}, ${id}, 'x', now() - interval '400 days')`.execute(
          db,
        );
      }
      await sql`insert into audit_entry (id, action, created_at) values ('platform', 'x', now() - interval '400 days')`.execute(db);
      await sql`insert into legal_hold (organization_id, workspace_id, reason) values ('all', null, 'A case.'), ('one', 'one-a', 'A case.')`.execute(
        db,
      );
      const left = async (rows: Expired) => {
        await deleteInBatches(db, rows, { before: undefined, onProgress() {}, signal: new AbortController().signal });
        const kept = await sql<{ id: string }>`select id from ${sql.table(rows.table)} order by id`.execute(db);
        return kept.rows.map(({ id }) => id);
      };
      expect(await left(finishedJobs)).to.deep.equal(['all-a', 'all-b', 'one-a']);
      expect(await left(auditEntries(365))).to.deep.equal(['all', 'one']);
    } finally {
      await drop();
    }
  });
});

describe('A legal hold that is set during the deletion', () => {
  it('waits for the batch that has begun', async () => {
    const { db, drop } = await createTestDatabase({ poolSize: 5 });
    const order: string[] = [];
    const note = (what: string) => () => void order.push(what);
    try {
      await sql`insert into organization (id, name, slug, "createdAt") values ('acme', 'Acme', 'acme', now())`.execute(db);
      await sql`insert into job (id, organization_id, kind, status, input, max_attempts, credits, credit_month, finished_at)
        values ('old', 'acme', 'text.embed', 'succeeded', '{}', 4, 0, '2026-01-01', now() - interval '40 days')`.execute(db);
      await sql`create function wait_in_test() returns trigger language plpgsql as $$
        begin perform pg_advisory_xact_lock(7); return old; end $$`.execute(db);
      await sql`create trigger wait_in_test before delete on job for each row execute function wait_in_test()`.execute(db);
      const waiting = async () => {
        const { rows } = await sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(
          db,
        );
        return rows.length;
      };
      let both: Promise<unknown> = Promise.resolve();
      await db.transaction().execute(async (trx) => {
        await sql`select pg_advisory_xact_lock(7)`.execute(trx);
        const quietly = { before: undefined, onProgress() {}, signal: new AbortController().signal };
        const sweep = deleteInBatches(db, finishedJobs, quietly).then(note('deleted'));
        await until(async () => (await waiting()) === 1);
        const hold = sql`insert into legal_hold (organization_id, reason) values ('acme', 'A case.')`.execute(db).then(note('held'));
        both = Promise.all([sweep, hold]);
        await until(async () => order.length > 0 || (await waiting()) === 2);
      });
      await both;
      expect(order).to.deep.equal(['deleted', 'held']);
    } finally {
      await drop();
    }
  });
});

describe('The days of a retention', () => {
  it('have 24 hours, where the clocks of the session change too', async () => {
    const database = await createClockedDatabase({ timeZone: 'Europe/Berlin' });
    try {
      // Two days after the clocks went back.
      await database.setTime(new Date('2026-10-27T12:00:00Z'));
      for (const { table, before } of [finishedJobs, mails, paymentEvents, auditEntries(30), idempotencyKeys]) {
        const { rows } = await sql<{ hours: number }>`select extract(epoch from now() - (${before}))::int / 3600 as hours`.execute(
          database.db,
        );
        expect(rows[0]?.hours, table).to.equal(table === 'idempotency_key' ? 24 : 720);
      }
      const { rows } = await sql`select extract(epoch from now() - (now() - ${shownAfterExpiry}))::int / 3600 as hours`.execute(
        database.db,
      );
      expect(rows, 'API keys').to.deep.equal([{ hours: 720 }]);
    } finally {
      await database.drop();
    }
  });

  it('have as many where invitations are bounded by the day', async () => {
    const database = await createClockedDatabase({ timeZone: 'Europe/Berlin' });
    try {
      const { db } = database;
      await sql`insert into auth_limit values ('invitationsPerDay', 1)`.execute(db);
      await sql`insert into "user" (id, name, email) values ('u', 'U', 'u@example.com')`.execute(db);
      await sql`insert into organization (id, name, slug, "createdAt") values ('o', 'O', 'one', now())`.execute(db);
      const invite = async (id: string, at: string) => {
        await database.setTime(new Date(at));
        return sql`insert into invitation (id, "organizationId", email, role, "expiresAt", "inviterId")
          values (${id}, 'o', 'guest@example.com', 'member', now() + interval '48 hours', 'u')`
          .execute(db)
          .then(
            () => 'sent',
            ({ detail }) => JSON.parse(detail).retryAfterSeconds,
          );
      };
      // The clocks go back on 25 October at 01:00 UTC.
      expect(await invite('first', '2026-10-24T12:00:00Z')).to.equal('sent');
      expect(await invite('early', '2026-10-25T11:00:00Z')).to.equal(3_600);
      expect(await invite('next', '2026-10-25T12:00:01Z')).to.equal('sent');
    } finally {
      await database.drop();
    }
  });
});
