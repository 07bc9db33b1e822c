import { expect } from 'chai';
import { finish } from '../../ai/formats/extract-text.ts';
import { type Notice, namePages } from '../../ai/formats/notice.ts';

describe('The notices of a document', () => {
  const noticesOf = (notices: Notice[]) => finish({ text: 'a', pages: null, notices }, 'text/plain', 10).notices;

  it('are absent if there is nothing to say', () => {
    expect(finish({ text: 'a', pages: null, notices: [] }, 'text/plain', 10)).not.to.have.property('notices');
  });

  it('are bounded in number and length, and storable', () => {
    const text = `\u0000${'\u{1f600}'.repeat(400)}`;
    const bounded = noticesOf(Array(30).fill({ code: 'scan_not_read', text })) ?? [];
    expect(bounded).to.have.length(20);
    expect(bounded[0]).to.deep.equal({ code: 'scan_not_read', text: '\u{1f600}'.repeat(300) });
  });

  it('name pages by their runs, and many runs by their number', () => {
    expect(namePages([4])).to.equal('Page 5');
    expect(namePages([0, 1, 2, 6])).to.equal('Pages 1 to 3, 7');
    expect(namePages(Array.from({ length: 9 }, (_, n) => n * 2))).to.equal('9 pages');
  });
});
