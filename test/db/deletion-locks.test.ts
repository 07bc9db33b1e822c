import { expect } from 'chai';
import { sql } from 'kysely';
import type { Transaction } from '../../db/connect.ts';
import { inTransaction } from '../../db/transaction.ts';
import { drainDocuments } from '../../domain/documents/drain-documents.ts';
import { lockForEffects, lockOrganization } from '../../domain/locks.ts';
import { deleteOrganizationRows } from '../../domain/organizations/delete-organization.ts';
import { insertWorkspaceOfChunks } from '../support/chunks.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { until } from '../support/processes.ts';

describe('A deletion', () => {
  let database: TestDatabase;
  beforeEach(async () => {
    database = await createTestDatabase();
  });
  afterEach(() => database.drop());

  const options = () => ({ onProgress: () => {}, signal: new AbortController().signal });
  const untilItWaits = () =>
    until(async () => {
      const { rows } = await sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(
        database.db,
      );
      return rows.length > 0;
    });

  /** Begins a deletion while a transaction holds what comes first in the lock order, and goes on in it once the deletion waits. */
  async function overtake(
    first: (trx: Transaction) => Promise<void>,
    deletion: () => Promise<void>,
    then: (trx: Transaction) => Promise<void>,
  ) {
    let deleting: Promise<void> | undefined;
    await inTransaction(database.db, async (trx) => {
      await first(trx);
      deleting ??= deletion();
      await Promise.race([untilItWaits(), deleting]);
      await then(trx);
    });
    await deleting;
  }

  it('of an organization locks it before its subscriptions', async () => {
    const { db } = database;
    await db.insertInto('organization').values({ id: 'one', name: 'One', slug: 'one', createdAt: new Date() }).execute();
    await sql`insert into subscription (id, plan, "referenceId", status) values ('sub', 'pro', 'one', 'canceled')`.execute(db);
    await overtake(
      (trx) => lockOrganization(trx, 'one'),
      () => deleteOrganizationRows(db, 'one', options()),
      async (trx) => {
        const { rows } = await sql`select id from subscription where "referenceId" = 'one' for update nowait`.execute(trx);
        expect(rows).to.deep.equal([{ id: 'sub' }]);
      },
    );
    expect(await db.selectFrom('organization').select('id').execute()).to.deep.equal([]);
  });

  it('of documents locks them before their chunks', async () => {
    const { db } = database;
    await insertWorkspaceOfChunks(db, 'one', [{ model: 'a', vector: [0, 1] }]);
    const { id } = await db.selectFrom('document').select('id').executeTakeFirstOrThrow();
    await overtake(
      async (trx) => void (await lockForEffects(trx, { id, workspace_id: 'one' })),
      () => drainDocuments(db, 'one', options()),
      async (trx) => {
        const { rows } = await sql`select document_id from chunk where document_id = ${id} for update nowait`.execute(trx);
        expect(rows).to.have.lengthOf(1);
      },
    );
    expect(await db.selectFrom('document').select('id').execute()).to.deep.equal([]);
  });
});
