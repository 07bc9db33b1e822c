import { expect } from 'chai';
import { cutChunks } from '../../domain/chunking/cut-chunks.ts';

const sentence = 'The lamp 😀 is lit at dusk by the keeper.';
const paragraph = Array(12).fill(sentence).join(' ');
const sections = ['Intro', 'Lamp', 'Oil', 'Boat'].map((title) => `# ${title}\n\n${paragraph}\n\n${paragraph}`);
const text = `  \n${sections.join('\n\n')}\n\n`;
const lengthOf = (part: string) => [...part].length;
const positionOf = (part: string) => lengthOf(text.slice(0, text.indexOf(part)));

describe('The places of chunks', () => {
  const headings = [
    { level: 1, start: positionOf('# Intro'), title: 'Intro' },
    { level: 2, start: positionOf('# Lamp'), title: 'Lamp' },
    { level: 2, start: positionOf('# Oil'), title: 'Oil' },
    { level: 1, start: positionOf('# Boat'), title: 'Boat' },
  ];
  const pages = [0, positionOf('# Lamp'), positionOf('# Lamp'), positionOf('# Oil') + 20];
  const placed = cutChunks(text, { characters: lengthOf(text), pages, headings });

  it('tell the headings that what is new in the chunk is under', () => {
    let seen = 0;
    for (const { position } of placed) {
      const from = Math.max(position.start, seen);
      const path =
        from < (headings[1]?.start ?? 0)
          ? ['Intro']
          : from < (headings[2]?.start ?? 0)
            ? ['Intro', 'Lamp']
            : from < (headings[3]?.start ?? 0)
              ? ['Intro', 'Oil']
              : ['Boat'];
      expect(position.headings).to.deep.equal(path);
      seen = position.end;
    }
    expect(placed.at(-1)?.position.headings).to.deep.equal(['Boat']);
    expect(
      cutChunks('Before any.', { characters: 11, pages: null, headings: [{ level: 1, start: 30, title: 'Later' }] })[0]?.position.headings,
    ).to.deep.equal([]);
  });

  it('tell the page of every character', () => {
    for (const { text: ofChunk, position } of placed) {
      for (let at = 0; at < lengthOf(ofChunk); at += 1) {
        const page = pages.filter((start) => start <= position.start + at).length;
        expect((position.page ?? 0) + (position.pageBreaks ?? []).filter((start) => start <= at).length).to.equal(page);
      }
    }
  });

  it('tell no page behind the pages, where files within the document stand', () => {
    const attached = { level: 1, title: 'plan.txt', start: 22 };
    const outline = { characters: 60, pages: [0, 11], pagesEnd: 22, headings: [attached] };
    const chunks = cutChunks('First page\nSecond one\nplan.txt\nA plan of the whole site.', outline, {
      size: { characters: 24, overlap: 0 },
    });
    expect(chunks.map(({ position }) => [position.start < 22, position.page === null])).to.deep.equal(
      chunks.map((_, at) => (at === 0 ? [true, false] : [false, true])),
    );
    expect(chunks.at(-1)?.position).to.deep.include({ page: null, pageBreaks: null, headings: ['plan.txt'] });
  });
});
