import { expect } from 'chai';
import { joinLayers } from '../../ai/formats/pdf/join-layers.ts';

const sure = (text: string) => ({ text, confidence: 90 });

describe('What was recognized of a page, and its own text', () => {
  it('are joined without the lines that are in both, and never have less than the page has itself', () => {
    for (const read of ['Read.', '—', '']) expect(joinLayers('', sure(read))).to.equal(read);
    expect(joinLayers('Stamp 12', sure(''))).to.equal('Stamp 12');
    expect(joinLayers('Stamp 12', sure('Stam'))).to.equal('Stamp 12');
    expect(joinLayers('Stamp 12', sure('The lease.\nStamp  12'))).to.equal('The lease.\nStamp  12');
    expect(joinLayers('Stamp 12\nPage 3', sure('The lease.\nStarnp 12\nPage 3'))).to.equal('The lease.\nStarnp 12\nPage 3\n\nStamp 12');
  });

  it('are joined if a picture says less than the page, and something else', () => {
    const [typed, shown] = ['The observatory stands on the eastern shoulder of Mount Sable.', 'Bridge closed until 14 September'];
    expect(joinLayers(typed, sure(shown))).to.equal(`${typed}\n\n${shown}`);
    expect(joinLayers(typed, sure('The observatory stands on the eastem shoulder'))).to.equal(typed);
  });

  it('are joined only if it was read as print is', () => {
    const junk = '| fi 7 ~ vy Ao | 1l ; Wee';
    for (const confidence of [0, 35, 69]) expect(joinLayers('Fig. 3', { text: junk, confidence })).to.equal('Fig. 3');
    // The remote text recognition does not say how sure it is.
    for (const confidence of [70, null]) expect(joinLayers('Fig. 3', { text: 'The harbor', confidence })).to.equal('The harbor\n\nFig. 3');
    expect(joinLayers('', { text: junk, confidence: 35 })).to.equal(junk);
  });
});
