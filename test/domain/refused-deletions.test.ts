import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { deleteOrganizationObjects } from '../../domain/organizations/delete-organization.ts';
import { deleteObjectBatch } from '../../domain/stored-objects/delete-object-batch.ts';
import { useLocalStore } from '../support/use-local-store.ts';

describe('Objects that the store refuses to delete, among many', () => {
  const own = useLocalStore();
  beforeEach(async () => {
    mkdirSync(join(own.directory, 'org'));
    for (let n = 0; n < 30; n++) writeFileSync(pathOf(`file-${n}`), 'x');
    // A directory in an object's place cannot be deleted as a file.
    for (const id of refused) mkdirSync(pathOf(id));
  });

  const refused = ['locked-1', 'locked-2'];
  const pathOf = (id: string) => join(own.directory, 'org', id);
  const rows = () => own.db.selectFrom('object_to_delete').selectAll().orderBy('key').execute();
  const deleteAll = async () => {
    const reports: number[] = [];
    const onProgress = ({ deleted }: { deleted: number }) => void reports.push(deleted);
    const before = { deleted: 0, failed: 0 };
    const counts = await deleteOrganizationObjects(own.db, own.storage, 'org', {
      before,
      onProgress,
      signal: new AbortController().signal,
    });
    return { counts, reports };
  };

  it('are counted and kept for later when their organization is deleted, however often', async () => {
    const first = await deleteAll();
    expect(first.counts).to.deep.equal({ deleted: 30, failed: 2 });
    expect(first.reports.at(-1)).to.equal(30);
    await own.db.updateTable('object_to_delete').set({ last_error: 'of before' }).execute();
    expect((await deleteAll()).counts).to.deep.equal({ deleted: 0, failed: 2 });
    const kept = await rows();
    expect(kept.map(({ key, organization_id, attempts }) => [key, organization_id, attempts])).to.deep.equal(
      refused.map((id) => [`org/${id}`, 'org', 1]),
    );
    for (const [index, { last_error }] of kept.entries()) expect(last_error).to.include(refused[index]);
  });

  it('are tried again after a quarter of an hour at the latest', async () => {
    const row = { key: 'org/locked-1', organization_id: 'org', attempts: 40 };
    await own.db.insertInto('object_to_delete').values(row).execute();
    expect((await deleteObjectBatch(own.db, own.storage, { organizationId: 'org' }, () => {})).nextDueMs).to.be.within(800_000, 900_000);
  });

  it('are of no concern to another organization', async () => {
    const refusedOnce = { organization_id: 'org', attempts: 1, next_attempt_at: new Date(Date.now() + 60_000) };
    await own.db
      .insertInto('object_to_delete')
      .values([
        { key: 'org/locked-1', ...refusedOnce },
        { key: 'org/file-1', organization_id: 'org' },
        { key: 'other/gone', organization_id: 'other' },
      ])
      .execute();
    const batch = await deleteObjectBatch(own.db, own.storage, { organizationId: 'other' }, () => {});
    expect(batch).to.deep.equal({ deleted: 1, failing: 0, nextDueMs: null });
    expect((await rows()).map(({ key }) => key)).to.deep.equal(['org/file-1', 'org/locked-1']);
  });

  it('are tried again later and later, each with its own reason, until they are gone', async () => {
    const keys = [...Array.from({ length: 30 }, (_, n) => `file-${n}`), ...refused].map((id) => `org/${id}`);
    await own.db
      .insertInto('object_to_delete')
      .values(keys.map((key) => ({ key, organization_id: 'org' })))
      .execute();
    let reports = 0;
    const batch = () => deleteObjectBatch(own.db, own.storage, { organizationId: 'org' }, () => reports++);
    /** What is refused in a batch waits for so long from then on. */
    const batchWaiting = async (waitMs: number) => {
      const before = Date.now();
      const outcome = await batch();
      const after = Date.now();
      for (const { next_attempt_at } of await rows())
        expect(next_attempt_at.getTime()).to.be.within(before + waitMs - 1, after + waitMs + 1);
      expect(outcome.nextDueMs).to.be.within(0, waitMs);
      return outcome;
    };
    expect(await batchWaiting(1_000)).to.include({ deleted: 30, failing: 2 });
    expect(reports).to.be.at.least(1);
    const due = { next_attempt_at: new Date(Date.now() - 60_000) };
    await own.db.updateTable('object_to_delete').set(due).execute();
    expect(await batchWaiting(2_000)).to.include({ deleted: 0, failing: 2 });
    const kept = await rows();
    expect(kept.map(({ key, attempts }) => [key, attempts])).to.deep.equal(refused.map((id) => [`org/${id}`, 2]));
    for (const [index, { last_error }] of kept.entries()) expect(last_error).to.include(refused[index]);
    for (const id of refused) rmSync(pathOf(id), { recursive: true });
    await own.db.updateTable('object_to_delete').set(due).execute();
    expect(await batch()).to.deep.equal({ deleted: 2, failing: 0, nextDueMs: null });
  });
});
