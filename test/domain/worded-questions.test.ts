import { expect } from 'chai';
import { createHighlighter } from '../../domain/search/highlights.ts';
import { rankByWords } from '../../domain/search/rank-by-words.ts';
import { searchDocuments } from '../../domain/search/search-documents.ts';
import { getWorkspace } from '../../domain/workspaces/workspace.ts';
import { insertDocument, insertWorkspace } from '../support/chunks.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { documents, questions } from '../support/worded-questions.ts';

describe('Questions by words', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
    await insertWorkspace(database.db, 'asked', { model: 'a', dimensions: 1 });
    for (const [number, text] of documents.entries())
      await insertDocument(database.db, { id: `asked-${number}`, workspaceId: 'asked' }, 'a', [{ text, embedding: [1] }]);
  });
  after(() => database.drop());

  async function search(query: string) {
    const found = await database.db.transaction().execute((trx) => rankByWords(trx, { workspaceId: 'asked', query, limit: 3 }));
    const texts = found.chunks.map(({ documentId }) => documents[Number(documentId.split('-')[1])] ?? '');
    return { texts, nearTerms: found.nearTerms };
  }

  /** Whether the first result is the one that is meant, and each result shows why it was found. */
  async function isRight({ query, finds }: (typeof questions)[number]): Promise<boolean> {
    const { texts, nearTerms } = await search(query);
    const highlight = createHighlighter(query, nearTerms);
    for (const text of texts) expect(highlight(text), `${query} in ${text}`).not.to.deep.equal([]);
    return finds === null ? texts.length === 0 : (texts[0]?.includes(finds) ?? false);
  }

  let right = 0;
  for (const kind of new Set(questions.map((question) => question.kind)))
    it(`find ${kind}`, async () => {
      const own = questions.filter((question) => question.kind === kind);
      const missed: string[] = [];
      for (const question of own) if (!(await isRight(question))) missed.push(question.query);
      right += own.length - missed.length;
      expect(missed.length / own.length, missed.join(', ')).to.be.at.most(0.2);
    });

  it('are responded to rightly nine times of ten', () => {
    expect(questions.length).to.be.at.least(140);
    expect(right / questions.length).to.be.at.least(0.9);
  });

  it('say how many of their words there are at all', async () => {
    const knownOf = async (query: string) =>
      (await database.db.transaction().execute((trx) => rankByWords(trx, { workspaceId: 'asked', query, limit: 1 }))).known;
    expect(await knownOf('Rechnung')).to.equal(1);
    expect(await knownOf('Rechnung xqzwv')).to.equal(0.5);
    expect(await knownOf('xqzwv')).to.equal(0);
    expect(await knownOf('parliment'), 'a misspelt word').to.equal(1);
    expect(await knownOf('Frist'), 'a part of a compound').to.equal(1);
    expect(await knownOf('倉庫')).to.equal(1);
  });

  it('rank the word itself before a compound with it', async () => {
    const { texts } = await search('Rechnung');
    expect(texts[0]).to.match(/Rechnung/);
    expect((await search('Mietvertrag')).texts).to.have.length(1);
  });

  it('without a letter or digit find nothing by meaning, and embed nothing', async () => {
    const deps = {
      ...{ db: database.db, isCharged: true, signal: AbortSignal.timeout(60_000), onUnsettled: () => {} },
      getPlan: () => Promise.reject(new Error('was charged')),
      embed: () => Promise.reject(new Error('was embedded')),
    };
    const index = { model: 'a', dimensions: 1, chunking: '1' };
    const workspace = await getWorkspace(database.db, 'asked');
    for (const mode of ['semantic', 'hybrid'] as const)
      expect((await searchDocuments(deps, { workspace, index, query: '?! 😀', mode, limit: 3 })).chunks).to.deep.equal([]);
  });
});
