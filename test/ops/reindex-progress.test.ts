import { expect } from 'chai';
import type { ReindexProgress } from '../../contract/intents/inputs.ts';
import { describeReindex } from '../../ops/commands/reindex.ts';

const target = { model: 'new', dimensions: 3, chunking: '1' };
const progress: ReindexProgress = {
  target,
  workspaces: 3,
  behind: 9,
  embedded: 8,
  chunks: 20,
  switched: 2,
  kept: 0,
  unswitched: 0,
  failures: 0,
  failed: [],
  after: 'c',
};
const first = '8 of 9 documents embedded by new, 3 dimensions, 2 switched';
const refused = { failures: 1, failed: [{ documentId: 'd', code: 'unreadable' }] };

describe('What an operator is told of a re-embedding', () => {
  it('names documents as the reason only if there are any', () => {
    const tell = (of: Partial<ReindexProgress>) => describeReindex({ ...progress, ...of }, false).split('\n');
    expect(tell({})).to.deep.equal([first]);
    const byDocuments = '1 workspaces keep their old vectors, because of documents that cannot be embedded:';
    const byItself = '1 workspaces keep their old vectors: they changed all the while, or could not be switched. Start it again:';
    expect(tell({ kept: 1, ...refused })).to.deep.equal([first, byDocuments, '  d: unreadable']);
    expect(tell({ kept: 1, unswitched: 1, unswitchedIds: ['w'] })).to.deep.equal([first, byItself, '  w']);
    expect(tell({ kept: 2, unswitched: 1, ...refused })).to.deep.equal([first, byItself, byDocuments, '  d: unreadable']);
  });
});
