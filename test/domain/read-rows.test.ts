import { expect } from 'chai';
import { readRows } from '../../domain/page.ts';

const kilobytes = (id: string, size: number) => ({ id, at: new Date(0), bytes: size * 1_024 });

describe('The rows of a page', () => {
  const sized = [
    kilobytes('a', 300),
    kilobytes('b', 200),
    kilobytes('c', 100),
    kilobytes('d', 4_000),
    kilobytes('e', 1),
    kilobytes('f', 1),
  ];
  const page = { rows: sized, bytes: 0, more: false };

  it('are read half a megabyte at a time, a larger one by itself', async () => {
    const reads: string[][] = [];
    await readRows(page, async (ids) => {
      reads.push(ids);
      return [];
    });
    expect(reads).to.deep.equal([['a', 'b'], ['c'], ['d'], ['e', 'f']]);
  });

  it('wait after each part but the last, as its size tells', async () => {
    const done: (string | number)[] = [];
    const read = async (ids: string[]) => {
      done.push(ids.join(''));
      return [];
    };
    await readRows(page, read, async (bytes) => void done.push(bytes / 1_024));
    expect(done).to.deep.equal(['ab', 500, 'c', 100, 'd', 4_000, 'ef']);
  });

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
