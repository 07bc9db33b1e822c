import { expect } from 'chai';
import { type ChunkPlace, placeChunks } from '../../domain/chunking/place-chunks.ts';
import { noOutline } from '../support/outline.ts';

const sentence = 'The lamp 😀 is lit at dusk by the keeper.';
const paragraph = Array(12).fill(sentence).join(' ');
const sections = ['Intro', 'Lamp', 'Oil', 'Boat'].map((title) => `# ${title}\n\n${paragraph}\n\n${paragraph}`);
const text = `  \n${sections.join('\n\n')}\n\n`;
const lengthOf = (part: string) => [...part].length;
const positionOf = (part: string) => lengthOf(text.slice(0, text.indexOf(part)));
const cut = (part: string, { start, end }: Pick<ChunkPlace, 'start' | 'end'>) => [...part].slice(start, end).join('');

describe('The places of chunks', () => {
  const headings = [
    { level: 1, start: positionOf('# Intro'), title: 'Intro' },
    { level: 2, start: positionOf('# Lamp'), title: 'Lamp' },
    { level: 2, start: positionOf('# Oil'), title: 'Oil' },
    { level: 1, start: positionOf('# Boat'), title: 'Boat' },
  ];
  const pages = [0, positionOf('# Lamp'), positionOf('# Lamp'), positionOf('# Oil') + 20];
  const placed = placeChunks(text, { characters: lengthOf(text), pages, headings });

  it('are those of the chunks in the text', () => {
    expect(placed.length).to.be.greaterThan(3);
    for (const chunk of placed) expect(cut(text, chunk.place)).to.equal(chunk.text);
  });

  it('tell the headings that what is new in the chunk is under', () => {
    let seen = 0;
    for (const { place } of placed) {
      const from = Math.max(place.start, seen);
      const path =
        from < (headings[1]?.start ?? 0)
          ? ['Intro']
          : from < (headings[2]?.start ?? 0)
            ? ['Intro', 'Lamp']
            : from < (headings[3]?.start ?? 0)
              ? ['Intro', 'Oil']
              : ['Boat'];
      expect(place.headings).to.deep.equal(path);
      seen = place.end;
    }
    expect(placed.at(-1)?.place.headings).to.deep.equal(['Boat']);
    expect(
      placeChunks('Before any.', { characters: 11, pages: null, headings: [{ level: 1, start: 30, title: 'Later' }] })[0]?.place.headings,
    ).to.deep.equal([]);
  });

  it('tell the page of every character', () => {
    for (const { text: ofChunk, place } of placed) {
      for (let at = 0; at < lengthOf(ofChunk); at += 1) {
        const page = pages.filter((start) => start <= place.start + at).length;
        expect((place.page ?? 0) + (place.pageBreaks ?? []).filter((start) => start <= at).length).to.equal(page);
      }
    }
  });

  it('are known of a text without pages and headings, but for pages and headings', () => {
    for (const { place, text: ofChunk } of placeChunks(text, noOutline)) {
      expect(cut(text, place)).to.equal(ofChunk);
      expect(place).to.deep.include({ page: null, pageBreaks: null, headings: [] });
    }
  });
});
