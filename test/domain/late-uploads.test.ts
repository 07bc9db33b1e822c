import { expect } from 'chai';
import type { Db } from '../../db/connect.ts';
import { expectLateUpload, sweepLateUploads } from '../../domain/stored-objects/late-uploads.ts';
import { insertWorkspaceOfChunks } from '../support/chunks.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

describe('An upload that may come after the deletion of its document', () => {
  let database: TestDatabase;
  let db: Db;
  before(async () => {
    database = await createTestDatabase();
    db = database.db;
    await insertWorkspaceOfChunks(db, 'one', []);
    await db.updateTable('document').set({ object_key: 'one/one' }).execute();
    await db.deleteFrom('late_upload').execute();
  });
  after(() => database.drop());

  const expected = () => db.selectFrom('late_upload').select(['key', 'due_at']).orderBy('key').execute();
  const yesterday = new Date(Date.now() - 24 * 60 * 60 * 1_000);

  it('is expected of a document that is gone, from its last link on', async () => {
    await expectLateUpload(db, { id: 'one', organizationId: 'one' });
    expect(await expected()).to.deep.equal([]);
    await expectLateUpload(db, { id: 'gone', organizationId: 'one' });
    const first = await expected();
    expect(first.map(({ key }) => key)).to.deep.equal(['one/gone']);
    await db.updateTable('late_upload').set({ due_at: yesterday }).execute();
    await expectLateUpload(db, { id: 'gone', organizationId: 'one' });
    expect((await expected())[0]?.due_at.getTime()).to.be.at.least(first[0]?.due_at.getTime() ?? 0);
  });

  it('is deleted once no link works any more, and not before', async () => {
    await expectLateUpload(db, { id: 'early', organizationId: 'one' });
    await db.updateTable('late_upload').set({ due_at: yesterday }).where('key', '=', 'one/gone').execute();
    expect(await sweepLateUploads(db, 10)).to.equal(1);
    expect((await expected()).map(({ key }) => key)).to.deep.equal(['one/early']);
    const deletions = await db.selectFrom('object_to_delete').select(['key', 'organization_id']).execute();
    expect(deletions).to.deep.equal([{ key: 'one/gone', organization_id: 'one' }]);
    const intents = await db.selectFrom('outbox').select('workflow_id').execute();
    expect(intents).to.deep.equal([{ workflow_id: 'delete-objects-one' }]);
  });

  it('is deleted, however many there are of one organization', async () => {
    const keys = Array.from({ length: 2_001 }, (_, n) => `one/many-${n}`);
    const rows = keys.map((key) => ({ key, organization_id: 'one', due_at: yesterday }));
    await db.insertInto('late_upload').values(rows).execute();
    expect(await sweepLateUploads(db, 10_000)).to.equal(keys.length);
    const deletions = await db.selectFrom('object_to_delete').select('key').where('key', 'like', 'one/many-%').execute();
    expect(deletions.map(({ key }) => key)).to.have.members(keys);
  });
});
