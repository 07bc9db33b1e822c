import { expect } from 'chai';
import { findExpressions, findSlow, listSources, watchMade } from './regular-expressions.ts';

/** Made where they are used, of nothing that a stranger has chosen. */
const madeOfOwnWords: Record<string, string> = {
  'adapters/mail/mailbox.ts': 'the names of its own headers',
  'docs/examples/demo/screen.ts': 'the width of a terminal',
};

describe('A regular expression', () => {
  it('takes no more time for a long text than its length explains', async function () {
    this.timeout(600_000);
    const sources = listSources().map((file) => ({ file, ...findExpressions(file) }));
    const making = sources.filter(({ calls }) => calls.length > 0);
    const made = await watchMade(making.map(({ file }) => file));
    const literals = sources.flatMap((source) => source.literals);
    expect(literals).to.have.length.above(500);
    expect(await findSlow([...literals, ...made])).to.deep.equal([]);

    const places = new Set(made.map(({ place }) => place));
    const unseen = making.filter(({ calls }) => !calls.every((place) => places.has(place))).map(({ file }) => file);
    expect(unseen).to.deep.equal(Object.keys(madeOfOwnWords));
  });

  it('that is slow is found', async () => {
    const slow = ['(a+)+$', '\\/+$', 'charset\\s*=\\s*["\']?\\s*(\\w)', '\\[\\$([^\\]-]+)-[^\\]]*\\]'];
    const found = await findSlow(slow.map((source) => ({ source, flags: '', place: 'here' })));
    expect(found).to.have.length(slow.length);
    expect(await findSlow([{ source: '(?<!\\/)\\/+$', flags: '', place: 'here' }])).to.deep.equal([]);
  });
});
