import { expect } from 'chai';
import { chunkingOf, chunkSize, chunkSizeOf, sizeOfChunking } from '../../domain/chunking/chunking.ts';
import { countAllBehind, nextWorkspaceBehind } from '../../domain/reindex/find-behind.ts';
import { switchWorkspace } from '../../domain/reindex/switch-workspace.ts';
import { readSearchedIndex } from '../../domain/search/searched-index.ts';
import { insertWorkspaceOfChunks, makeVectors } from '../support/chunks.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const old = { model: 'old', dimensions: 8, chunking: '1' };
const target = { model: 'new', dimensions: 4, chunking: '1/900' };

describe('With what documents are indexed', () => {
  let database: TestDatabase;
  beforeEach(async () => {
    database = await createTestDatabase({ poolSize: 2 });
    for (const id of ['one', 'two']) {
      const chunks = makeVectors(1, 3, old.dimensions).map((vector) => ({ model: old.model, vector }));
      await insertWorkspaceOfChunks(database.db, id, chunks);
    }
  });
  afterEach(() => database.drop());

  it('leads from workspace to workspace, and to what is left in each', async () => {
    const { db } = database;
    expect(await nextWorkspaceBehind(db, {}, { target, after: '' })).to.equal('one');
    expect(await nextWorkspaceBehind(db, {}, { target, after: 'one' })).to.equal('two');
    expect(await nextWorkspaceBehind(db, { organizationId: 'one' }, { target, after: 'one' })).to.equal(undefined);
    expect(await nextWorkspaceBehind(db, {}, { target: old, after: '' })).to.equal(undefined);
    expect(await countAllBehind(db, { ...target, dimensions: null })).to.deep.equal({ documents: 2, behind: 2 });
    expect(await countAllBehind(db, { ...old, dimensions: null })).to.deep.equal({ documents: 2, behind: 0 });
    // A workspace without documents is searched by the target from now on, too.
    await db.deleteFrom('document').where('id', '=', 'one').execute();
    expect(await nextWorkspaceBehind(db, {}, { target, after: '' })).to.equal('one');
    expect(await switchWorkspace(db, { workspaceId: 'one', target }, () => {})).to.deep.equal({ switched: 0 });
    expect(await readSearchedIndex(db, 'one')).to.deep.equal(target);
  });
});

describe('The name of a chunking', () => {
  it('tells the size, unless it is the usual one', () => {
    expect(chunkingOf(chunkSize)).to.match(/^\d+$/);
    expect(chunkingOf(chunkSizeOf(900))).to.equal(`${chunkingOf(chunkSize)}/900`);
    for (const size of [chunkSize, chunkSizeOf(900), chunkSizeOf(60)]) expect(sizeOfChunking(chunkingOf(size))).to.deep.equal(size);
  });
});
