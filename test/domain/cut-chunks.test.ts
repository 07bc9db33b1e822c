import { expect } from 'chai';
import fc from 'fast-check';
import { chunkSizeOf, maxChunks } from '../../domain/chunking/chunking.ts';
import { type CutChunk, cutChunks } from '../../domain/chunking/cut-chunks.ts';
import { findTableRows } from '../../domain/chunking/table-rows.ts';

const lengthOf = (text: string) => [...text].length;
/** The outline of a text whose headings are written as in Markdown. */
function outlineOf(text: string) {
  let [passed, start] = [0, 0];
  const headings = [...text.matchAll(/^(#+) (.*)$/gm)].map(({ 1: signs = '', 2: title = '', index }) => {
    start += lengthOf(text.slice(passed, index));
    passed = index;
    return { level: signs.length, title, start };
  });
  return { characters: lengthOf(text), pages: null, headings };
}
const place = (text: string, characters = 1_200) => cutChunks(text, outlineOf(text), { size: chunkSizeOf(characters) });
const sentences = (count: number, what: string) =>
  Array.from({ length: count }, (_, at) => `Sentence ${at} of ${what} 😀 is here.`).join(' ');

/** Every character that is no white space is in a chunk. */
function expectNothingLost(text: string, chunks: CutChunk[]): void {
  const characters = [...text];
  let covered = 0;
  for (const { position: at } of chunks) {
    expect(characters.slice(covered, at.start).join('').trim()).to.equal('');
    covered = Math.max(covered, at.end);
  }
  expect(characters.slice(covered).join('').trim()).to.equal('');
}

describe('What chunks end with', () => {
  it('is the end of a section, and the next one shares nothing with it', () => {
    const sections = ['Oil', 'Lamp', 'Boat'].map((title) => `## ${title}\n\n${sentences(18, title)}`);
    const chunks = place(['# Light', ...sections].join('\n\n'));
    expect(chunks.map(({ text }) => text)).to.deep.equal([`# Light\n\n${sections[0]}`, sections[1], sections[2]]);
  });

  it('is a section only if the chunk is not short by then, so that many headings do not make many chunks', () => {
    const text = Array.from({ length: 400 }, (_, index) => `## Entry ${index}\n\nA few words about it.`).join('\n\n');
    const chunks = place(text);
    for (const { text: one } of chunks) expect(one).to.match(/^## Entry/);
    for (const { text: one } of chunks.slice(0, -1)) expect(lengthOf(one)).to.be.within(270, 1_200);
  });

  it('is no section of a text that would have too many chunks to be indexed', () => {
    const text = Array.from({ length: maxChunks + 100 }, (_, index) => `## Entry ${index}\n\n${'A few words about it. '.repeat(14)}`).join(
      '\n\n',
    );
    const chunks = place(text);
    expect(chunks.length).to.be.below(maxChunks / 2);
    expectNothingLost(text, chunks);
    expect(chunks.at(-1)?.position.headings[0]).to.match(/^Entry 2\d{3}$/);
    expect(place(text.slice(0, text.indexOf('## Entry 1990')))).to.have.length(1_990);
  });

  it('leaves no short chunk before the next section', () => {
    const text = `# One\n\n${sentences(43, 'one')}\n\n# Two\n\n${sentences(20, 'two')}`;
    const chunks = place(text);
    expect(text.indexOf('# Two')).to.be.within(1_300, 1_500);
    for (const { text: one } of chunks) expect(lengthOf(one)).to.be.above(300);
    expect(chunks.filter(({ text: one }) => one.startsWith('# Two'))).to.have.length(1);
  });

  it('is the end of a paragraph, if one ends in the last third', () => {
    const paragraphs = Array.from({ length: 6 }, (_, index) => sentences(12, `paragraph ${index}`));
    for (const { text } of place(paragraphs.join('\n\n')).slice(0, -1)) expect(paragraphs.some((one) => text.endsWith(one))).to.equal(true);
  });

  it('is the end of a row where a table is cut', () => {
    const row = (index: number) => `| ${index} | ${sentences(1 + (index % 9), `row ${index}.`)} |`;
    const rows = Array.from({ length: 60 }, (_, index) => row(index));
    const chunks = place(
      `Before. ${sentences(10, 'prose')}\n\n| Number | Text |\n|---|---|\n${rows.join('\n')}\n\n${sentences(50, 'the rest')}`,
    );
    const lines = chunks.flatMap(({ text }) => text.split('\n').filter((line) => line.includes('|')));
    expect(lines.filter((line) => !rows.includes(line) && !/^\|(?: Number|---)/.test(line))).to.deep.equal([]);
    for (const one of rows) expect(lines).to.include(one);
  });

  it('is the beginning of a row that does not fit, and the next one begins there', () => {
    const paragraph = 'word '.repeat(40).trim();
    const row = `| ${'cell words here '.repeat(72)}|`;
    const chunks = place(`${paragraph}\n\n${row}\n\n`.repeat(70));
    expect(chunks.map(({ text }) => text)).to.deep.equal(Array(70).fill([paragraph, row]).flat());
  });

  const line = fc.oneof(
    fc.constantFrom('', '# A', '## B', '### C', '|', '||', '|---|---|', '| a | b |', 'a | b', '```', '  '),
    fc.integer({ min: 1, max: 90 }).map((count) => `| ${'cell '.repeat(count)}|`),
    fc.integer({ min: 1, max: 90 }).map((count) => 'word. '.repeat(count)),
    fc.string({ unit: 'grapheme', maxLength: 300 }),
  );
  const toText = (lines: string[]) => lines.join('\n').replace(/\r/g, ' ');

  it('loses nothing, ends, and keeps to the size, whatever the text is', () => {
    const text = fc.array(line, { maxLength: 60 }).map(toText);
    fc.assert(
      fc.property(text, fc.constantFrom(60, 300, 1_200), (one, characters) => {
        const chunks = place(one, characters);
        expectNothingLost(one, chunks);
        for (const { text: ofChunk, embedded, position: at } of chunks) {
          expect(lengthOf(embedded)).to.be.most(characters);
          expect([...one].slice(at.start, at.end).join('')).to.equal(ofChunk);
        }
        for (const { 0: row, index } of one.matchAll(/^\|.*\|$/gm)) {
          const start = lengthOf(one.slice(0, index));
          const end = start + lengthOf(row);
          const cuts = chunks.flatMap(({ position: at }) => [at.start, at.end]).filter((at) => start < at && at < end);
          if (end - start < characters / 2) expect(cuts, row).to.deep.equal([]);
        }
      }),
      { numRuns: 200 },
    );
  });

  it('makes no more chunks than the length, the rows and the headings of a text ask for, and none within another', () => {
    const longLine = fc.oneof(
      fc.integer({ min: 200, max: 260 }).map((count) => `| ${'cell '.repeat(count)}|`),
      fc.integer({ min: 1, max: 300 }).map((count) => 'word '.repeat(count)),
      fc.integer({ min: 1, max: 3_000 }).map((count) => ' '.repeat(count)),
    );
    const text = fc.array(fc.oneof(line, longLine), { maxLength: 60 }).map(toText);
    fc.assert(
      fc.property(text, fc.constantFrom(60, 300, 1_200), (one, characters) => {
        const places = place(one, characters).map(({ position: at }) => at);
        // In prose each has two thirds of what its context leaves, without the overlap.
        const most = lengthOf(one) / ((characters * 3) / 8) + findTableRows(one).length + outlineOf(one).headings.length + 1;
        expect(places.length).to.be.most(most);
        for (const [index, { start, end }] of places.entries()) {
          const before = places[index - 1] ?? { start: -1, end: 0 };
          expect(start).to.be.above(before.start);
          expect(end).to.be.above(before.end);
        }
      }),
      { numRuns: 200 },
    );
  });
});

describe('What is embedded of a chunk', () => {
  const text = `# Handbook\n\n## Boats\n\n### Engine\n\n${sentences(60, 'the engine')}\n\n## Oil\n\n${sentences(20, 'the oil')}`;

  it('begins with the headings that it is under, but for one that its text begins with', () => {
    const chunks = place(text);
    const start = ({ embedded, text: one }: CutChunk) =>
      embedded
        .slice(0, embedded.length - one.length)
        .split('\n')
        .filter(Boolean);
    expect(chunks.map(start)).to.deep.equal([[], ['Handbook', 'Boats', 'Engine'], ['Handbook', 'Boats', 'Engine'], ['Handbook']]);
    expect(chunks[1]?.text).to.not.match(/Handbook|Boats/);
    expect(chunks[1]?.position.headings).to.deep.equal(['Handbook', 'Boats', 'Engine']);
  });

  it('has no more headings than a quarter of the size holds, the innermost ones', () => {
    const long = ['# ', '## ', '### '].map((signs, index) => `${signs}${`title${index} `.repeat(24)}`).join('\n\n');
    const last = place(`${long}\n\n${sentences(60, 'text')}`).at(-1);
    expect(last?.embedded.split('\n')).to.have.length(2);
    expect(last?.embedded).to.match(/^title2 .*title2 ?\n/);
    expect(last?.position.headings).to.have.length(3);
  });

  it('begins with the head of the table that it goes on with', () => {
    const rows = Array.from({ length: 40 }, (_, index) => `| ${index} | ${sentences(2, 'row')} |`);
    const chunks = place(`# Fares\n\n| Number | Words |\n|---|---|\n${rows.join('\n')}\n\n${sentences(40, 'prose')}`);
    const [, second] = chunks;
    expect(second?.embedded).to.match(/^Fares\n\| Number \| Words \|\n\| \d+ \|/);
    expect(second?.text).to.match(/^\| \d+ \|/);
    expect(chunks.at(-1)?.embedded).to.match(/^Fares\n(?!\|)/);
  });
});
