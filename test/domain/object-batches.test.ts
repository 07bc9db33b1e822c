import { expect } from 'chai';
import type { Db } from '../../db/connect.ts';
import { deleteObjectBatch } from '../../domain/objects/delete-object-batch.ts';
import { LocalStorage } from '../../storage/local.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { makeTestDirectory, removeTestDirectory } from '../support/directories.ts';

describe('The deletion of more objects than a batch has', () => {
  let database: TestDatabase;
  let db: Db;
  let directory: string;
  let storage: LocalStorage;
  beforeEach(async () => {
    database = await createTestDatabase();
    db = database.db;
    directory = makeTestDirectory();
    storage = new LocalStorage({ directory, publicUrl: 'http://localhost', secret: Buffer.from('secret') });
  });
  afterEach(async () => {
    await database.drop();
    removeTestDirectory(directory);
  });

  const organizationId = 'org';
  const firstDue = Date.now() - 3_600_000;
  const request = (from: number, to: number) => {
    const rows = Array.from({ length: to - from }, (_, n) => ({
      key: `org/${String(from + n).padStart(5, '0')}`,
      organization_id: organizationId,
      next_attempt_at: new Date(firstDue + from + n),
    }));
    return db.insertInto('object_to_delete').values(rows).execute();
  };

  it('goes on after the last one, reads past no rows that are gone, and leaves out none that came late', async () => {
    for (let from = 1; from <= 10_001; from += 2_500) await request(from, Math.min(from + 2_500, 10_051));
    const first = await deleteObjectBatch(db, storage, { organizationId }, () => {});
    const reached = { key: 'org/10000', dueAt: new Date(firstDue + 10_000).toISOString() };
    expect(first).to.deep.equal({ deleted: 10_000, failing: 0, nextDueMs: 0, reached });

    // Of a transaction that began before the others, and was committed after them.
    await request(0, 1);
    const second = await deleteObjectBatch(db, storage, { organizationId, after: reached }, () => {});
    expect(second).to.deep.equal({ deleted: 50, failing: 0, nextDueMs: 0 });
    const third = await deleteObjectBatch(db, storage, { organizationId }, () => {});
    expect(third).to.deep.equal({ deleted: 1, failing: 0, nextDueMs: null });
  });
});
