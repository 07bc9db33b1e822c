import { expect } from 'chai';
import { readChunks } from '../../domain/search/read-chunks.ts';
import { insertWorkspaceOfChunks } from '../support/chunks.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

describe('A chunk', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase({ poolSize: 1 });
    for (const id of ['ours', 'theirs']) await insertWorkspaceOfChunks(database.db, id, [{ model: 'm', vector: [1, 0] }]);
  });
  after(() => database.drop());

  const insert = (place: { organization_id: string; workspace_id: string; document_id: string }) =>
    database.db
      .insertInto('chunk')
      .values({ id: JSON.stringify(place), index: 1, text: 'a', model: 'm', embedding: [1, 0], ...place })
      .execute()
      .then(() => 'stored')
      .catch((error) => error.constraint);

  it('belongs to the organization and the workspace of its document', async () => {
    const ours = { organization_id: 'ours', workspace_id: 'ours', document_id: 'ours' };
    expect(await insert({ ...ours, organization_id: 'theirs' })).to.equal('chunk_document_fkey');
    expect(await insert({ ...ours, workspace_id: 'theirs' })).to.equal('chunk_document_fkey');
    expect(await insert({ ...ours, document_id: 'theirs' })).to.equal('chunk_document_fkey');
    expect(await insert(ours)).to.equal('stored');
  });

  it('is shown to searches of its workspace only, whatever led to it', async () => {
    const shown = async (workspaceId: string) =>
      (
        await database.db.transaction().execute((trx) => readChunks(trx, { workspaceId, chunks: [{ documentId: 'theirs', index: 0 }] }))
      ).map(({ document_id: id }) => id);
    expect(await shown('theirs')).to.deep.equal(['theirs']);
    expect(await shown('ours')).to.deep.equal([]);
  });

  it('goes with its document, and with its organization', async () => {
    const left = async () => (await database.db.selectFrom('chunk').select('organization_id').distinct().execute()).length;
    await database.db.deleteFrom('document').where('id', '=', 'ours').execute();
    expect(await left()).to.equal(1);
    await database.db.deleteFrom('organization').where('id', '=', 'theirs').execute();
    expect(await left()).to.equal(0);
  });
});
