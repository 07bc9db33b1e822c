import { expect } from 'chai';
import { chunkingOf, chunkSize, chunkSizeOf, sizeOfChunking } from '../../domain/chunking/chunking.ts';
import { splitText } from '../../domain/chunking/split-text.ts';
import { countAllBehind, countBehind, listBehind, nextWorkspaceBehind } from '../../domain/reindex/find-behind.ts';
import { stageDocument } from '../../domain/reindex/stage-document.ts';
import { switchWorkspace } from '../../domain/reindex/switch-workspace.ts';
import { readSearchedIndex } from '../../domain/search/searched-index.ts';
import { insertWorkspaceOfChunks, makeVectors, storeIn } from '../support/chunks.ts';
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

  it('changes by what is staged for this target and the latest index alone', async () => {
    const { db } = database;
    const page = { workspaceId: 'one', target, after: '', limit: 10 };
    const [document] = await listBehind(db, page);
    if (!document) throw new Error('nothing is behind');
    const chunks = [{ text: 'a text', embedding: [3, 0, 4, 0] }];
    const switchOne = () => switchWorkspace(db, { workspaceId: 'one', target }, () => {});
    expect(await switchOne()).to.deep.equal({ missing: 1 });
    expect(await stageDocument(db, document, { kind: { ...target, model: 'abandoned' }, chunks })).to.equal(true);
    expect(await switchOne(), 'staged for another target').to.deep.equal({ missing: 1 });
    expect(await stageDocument(db, document, { kind: target, chunks })).to.equal(true);
    expect(await countBehind(db, 'one', target)).to.deep.equal({ behind: 1, staged: 1 });
    await storeIn(db, 'one', old.model, [{ text: 'an older text', embedding: makeVectors(1, 1, old.dimensions)[0] ?? [] }]);
    expect(await switchOne(), 'indexed since').to.deep.equal({ missing: 1 });
    expect(await stageDocument(db, document, { kind: target, chunks }), 'embedded before that').to.equal(false);
    const [again] = await listBehind(db, page);
    expect(again && (await stageDocument(db, again, { kind: target, chunks }))).to.equal(true);
    expect(await switchOne()).to.deep.equal({ switched: 1 });
    const stored = await db.selectFrom('chunk').select(['text', 'model', 'embedding']).where('document_id', '=', 'one').execute();
    expect(stored).to.have.length(1);
    expect(stored[0]).to.deep.include({ text: 'a text', model: 'new' });
    for (const [index, value] of [0.6, 0, 0.8, 0].entries()) expect(stored[0]?.embedding[index]).to.be.closeTo(value, 1e-6);
    expect(await listBehind(db, page)).to.deep.equal([]);
    expect(await switchWorkspace(db, { workspaceId: 'gone', target }, () => {})).to.deep.equal({ gone: true });
  });
});

describe('The name of a chunking', () => {
  it('tells the size, unless it is the usual one', () => {
    expect(chunkingOf(chunkSize)).to.equal('5');
    expect(chunkingOf(chunkSizeOf(900))).to.equal('5/900');
    for (const size of [chunkSize, chunkSizeOf(900), chunkSizeOf(60)]) expect(sizeOfChunking(chunkingOf(size))).to.deep.equal(size);
  });

  it('stands for chunks of no more characters than it says', () => {
    const text = 'A sentence of some words. '.repeat(400);
    for (const characters of [60, 900, 1_200]) {
      const chunks = splitText(text, chunkSizeOf(characters)).map((chunk) => chunk.text);
      expect(Math.max(...chunks.map(({ length }) => length))).to.be.within(characters / 2, characters);
    }
  });
});
