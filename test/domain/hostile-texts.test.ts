import { expect } from 'chai';
import { cutChunks } from '../../domain/chunking/cut-chunks.ts';
import { createHighlighter } from '../../domain/search/highlights.ts';
import { termsOf } from '../../domain/search/terms.ts';
import { hostileTexts, processorSeconds } from '../support/hostile-texts.ts';
import { noOutline } from '../support/outline.ts';

describe('A hostile text of 100,000 characters', () => {
  const findHighlights = createHighlighter('a query of some words 語');
  const work: Record<string, (text: string) => unknown> = {
    'is cut as prose': (text) => cutChunks(text, noOutline),
    'is cut as Markdown': (text) => cutChunks(text, noOutline, { contentType: 'text/markdown' }),
    'is read for the search by words': (text) => termsOf(text),
    'is searched for what matched': findHighlights,
  };
  for (const [what, run] of Object.entries(work))
    it(`${what} in time`, async () => {
      for (const { name, text } of hostileTexts()) expect(await processorSeconds(() => run(text)), name).to.be.below(1);
    });

  it('is cut as Markdown as fast as prose, however deep its quotations and lists are nested', async () => {
    for (const one of ['>', '> ', '1. ', '- > ']) {
      const text = one.repeat(200_000 / one.length);
      const seconds = await processorSeconds(() => cutChunks(text, noOutline, { contentType: 'text/markdown' }));
      expect(seconds, JSON.stringify(one)).to.be.below(0.5);
    }
  });

  it('is searched for what matched, however often that is', () => {
    expect(createHighlighter('語')('語'.repeat(200_000))).to.deep.equal([{ start: 0, end: 200_000 }]);
  });
});
