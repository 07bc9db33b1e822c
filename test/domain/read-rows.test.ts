import { expect } from 'chai';
import { readRows } from '../../domain/page.ts';

describe('The rows of a page', () => {
  const rows = ['a', 'b', 'c', 'd', 'e', 'f'].map((id) => ({ id, at: new Date(0), bytes: 1 }));
  const page = { rows, bytes: 0, more: false };

  it('are in the order of the page, without those that are gone', async () => {
    const read = async (ids: string[]) =>
      ids
        .filter((id) => id !== 'e')
        .map((id) => ({ id }))
        .reverse();
    expect(await readRows(page, read)).to.deep.equal(['a', 'b', 'c', 'd', 'f'].map((id) => ({ id })));
  });

  it('are not asked for if there are none', async () => {
    const read = () => Promise.reject(new Error('nothing is to be read'));
    expect(await readRows({ ...page, rows: [] }, read)).to.deep.equal([]);
  });
});
