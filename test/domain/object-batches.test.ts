import { expect } from 'chai';
import { deleteObjectBatch } from '../../domain/stored-objects/delete-object-batch.ts';
import { useLocalStore } from '../support/use-local-store.ts';

describe('The deletion of more objects than a batch has', () => {
  const own = useLocalStore();

  const organizationId = 'org';
  const firstDue = Date.now() - 3_600_000;
  const request = (from: number, to: number) => {
    const rows = Array.from({ length: to - from }, (_, n) => ({
      key: `org/${String(from + n).padStart(5, '0')}`,
      organization_id: organizationId,
      next_attempt_at: new Date(firstDue + from + n),
    }));
    return own.db.insertInto('object_to_delete').values(rows).execute();
  };

  it('goes on after the last one, reads past no rows that are gone, and leaves out none that came late', async () => {
    for (let from = 1; from <= 10_001; from += 2_500) await request(from, Math.min(from + 2_500, 10_051));
    const first = await deleteObjectBatch(own.db, own.storage, { organizationId }, () => {});
    const reached = { key: 'org/10000', dueAt: new Date(firstDue + 10_000).toISOString() };
    expect(first).to.deep.equal({ deleted: 10_000, failing: 0, nextDueMs: 0, reached });

    // Of a transaction that began before the others, and was committed after them.
    await request(0, 1);
    const second = await deleteObjectBatch(own.db, own.storage, { organizationId, after: reached }, () => {});
    expect(second).to.deep.equal({ deleted: 50, failing: 0, nextDueMs: 0 });
    const third = await deleteObjectBatch(own.db, own.storage, { organizationId }, () => {});
    expect(third).to.deep.equal({ deleted: 1, failing: 0, nextDueMs: null });
  });
});
