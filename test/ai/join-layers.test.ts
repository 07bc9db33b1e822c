import { expect } from 'chai';
import { joinLayers } from '../../ai/extract/join-layers.ts';

describe('What was recognized of a page, and its own text', () => {
  it('are joined without the lines that are in both, and never have less than the page has itself', () => {
    for (const read of ['Read.', '—', '']) expect(joinLayers('', read)).to.equal(read);
    expect(joinLayers('Stamp 12', '')).to.equal('Stamp 12');
    expect(joinLayers('Stamp 12', 'Stam')).to.equal('Stamp 12');
    expect(joinLayers('Stamp 12', 'The lease.\nStamp  12')).to.equal('The lease.\nStamp  12');
    expect(joinLayers('Stamp 12\nPage 3', 'The lease.\nStarnp 12\nPage 3')).to.equal('The lease.\nStarnp 12\nPage 3\n\nStamp 12');
  });
});
