import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import fc from 'fast-check';
import { chunkSizeOf } from '../../domain/chunking/chunking.ts';
import { type CutChunk, cutChunks } from '../../domain/chunking/cut-chunks.ts';
import { noOutline } from '../support/outline.ts';

const size = (characters: number) => ({ size: chunkSizeOf(characters) });
const csv = (text: string, characters = 1_200) => cutChunks(text, noOutline, { contentType: 'text/csv', ...size(characters) });
const json = (text: string, characters = 1_200) => cutChunks(text, noOutline, { contentType: 'application/json', ...size(characters) });
const markdown = (text: string) => cutChunks(text, noOutline, { contentType: 'text/markdown' });
const embedded = (chunks: CutChunk[]) => chunks.map((chunk) => chunk.embedded).join('\n');

/** The chunks stand in the text, follow each other, and leave nothing out. */
function expectInPlace(text: string, chunks: CutChunk[]): void {
  const characters = [...text];
  let covered = 0;
  for (const { text: one, position } of chunks) {
    expect(characters.slice(position.start, position.end).join('')).to.equal(one);
    expect(characters.slice(covered, position.start).join('').trim()).to.equal('');
    covered = Math.max(covered, position.end);
  }
  expect(characters.slice(covered).join('').trim()).to.equal('');
}

describe('What is embedded of a CSV text', () => {
  const inventory = readFileSync('docs/examples/samples/seed-inventory.csv', 'utf8');

  it('names each cell by its column in every chunk, which shows whole records as they are written', () => {
    const chunks = csv(inventory, 600);
    expect(chunks.length).to.be.above(3);
    expectInPlace(inventory, chunks);
    const lines = inventory.trim().split('\n');
    expect(chunks.flatMap(({ text }) => text.split('\n'))).to.deep.equal(lines);
    for (const chunk of chunks) expect([...chunk.embedded].length).to.be.most(600);
    expect(embedded(chunks)).to.include('accession: SB-0002, species: Linum alpinum, common_name: Alpine flax, collected: 2019-08-23,');
    expect(embedded(chunks)).to.not.match(/remarks: (?:,|$)/m);
  });

  it('knows quotes, other delimiters, and line ends in cells', () => {
    const [chunk] = csv('name;remark\n"Quist; M.";"says ""no""\nand yes"\nAldous;plain');
    expect(chunk?.embedded).to.equal('name, remark\nname: Quist; M., remark: says "no"\nand yes\nname: Aldous, remark: plain');
    expect(csv('a\tb\nc\td')[0]?.embedded).to.equal('a, b\na: c, b: d');
    // What tables of numbered rows are written with, and what Excel is told.
    expect(csv(',name,price\n0,mirror,12')[0]?.embedded).to.equal('name, price\n0, name: mirror, price: 12');
    const [told] = csv('sep=;\nname;price, net\nmirror;12,5');
    expect(told).to.include({ text: 'sep=;\nname;price, net\nmirror;12,5', embedded: 'name, price, net\nname: mirror, price, net: 12,5' });
    expect(csv('name,length\nbroken,5" pipe\nother,"open\nlast,1')[0]?.embedded).to.equal(
      'name, length\nname: broken, length: 5" pipe\nname: other, length: "open\nname: last, length: 1',
    );
  });

  it('names nothing if the first record has values, and has the names once in each chunk if they are longer than the cells', () => {
    expect(csv('1,2\n3,4')[0]?.embedded).to.equal('1, 2\n3, 4');
    expect(csv('only one record,here')[0]?.embedded).to.equal('only one record, here');
    const names = Array.from({ length: 6 }, (_, index) => `a_long_name_of_column_${index}`);
    const text = [names.join(','), ...Array.from({ length: 500 }, (_, index) => `${index},1,2,3,4,5`)].join('\n');
    const chunks = csv(text);
    expectInPlace(text, chunks);
    for (const chunk of chunks) {
      expect(chunk.embedded).to.match(/^a_long_name_of_column_0, a_long/);
      expect(chunk.embedded.match(/column_5/g)?.length).to.be.most(2);
    }
  });

  it('is cut within a record only if that is longer than a chunk', () => {
    const text = `name,text\nshort,one\nlong,"${'many words, '.repeat(300)}"\nlast,two`;
    const chunks = csv(text);
    expectInPlace(text.replaceAll('🌊', ''), chunks);
    expect(chunks.length).to.be.within(4, 7);
    expect(chunks.at(-1)?.embedded).to.equal('name: last, text: two');
  });
});

describe('What is embedded of a JSON text', () => {
  const orders = {
    shop: 'Quay',
    orders: Array.from({ length: 40 }, (_, index) => ({
      id: `INV-${index}`,
      customer: { name: `Name ${index}`, city: 'Oldwick' },
      tags: ['rope', 'tar'],
      note: null,
    })),
  };

  it('are its values with their keys, after the keys that lead to them', () => {
    expect(json(JSON.stringify({ ...orders, orders: orders.orders.slice(0, 2) }))[0]?.embedded).to.equal(
      'shop: Quay\norders: id: INV-0\norders.customer: name: Name 0, city: Oldwick\norders.tags: rope, tar\norders: id: INV-1\norders.customer: name: Name 1, city: Oldwick\norders.tags: rope, tar',
    );
    expect(json('{"a":"one \\"two\\"\\n\\u00e9"} {"a": 2}')[0]?.embedded).to.equal('a: one "two"\né\na: 2');
    expect(json('"just a string"')[0]?.embedded).to.equal('just a string');
    expect(json('[[1, 2], [3]]')[0]?.embedded).to.equal('1, 2\n3');
  });

  for (const [how, text] of Object.entries({ compact: JSON.stringify(orders), indented: JSON.stringify(orders, null, 2) })) {
    it(`is cut where a record ends, written ${how}`, () => {
      const chunks = json(text);
      expect(chunks.length).to.be.above(2);
      expectInPlace(text, chunks);
      for (const { text: one } of chunks.slice(1, -1)) expect(one).to.match(/^\{\s*"id"/);
      for (const { text: one } of chunks) expect([...one].length).to.be.most(1_200);
      for (const one of orders.orders) expect(embedded(chunks)).to.include(one.id);
    });
  }

  it('of a long value are its parts, each with its key', () => {
    const text = JSON.stringify({ article: { title: 'On tar', body: 'Tar keeps water out. '.repeat(200) } });
    const chunks = json(text);
    expectInPlace(text, chunks);
    expect(chunks.length).to.be.above(3);
    for (const { embedded: one } of chunks) expect(one).to.match(/^article/);
  });

  it('is the text itself where it is no JSON, or was cut off', () => {
    for (const text of ['{"broken": ', '{"a": [1, 2}', 'no JSON at all, just words', '{"a": 1, "b": "cut o', ']', '{"a" "b"}', '']) {
      const chunks = json(text);
      expectInPlace(text, chunks);
      for (const { embedded: one } of chunks) expect(one).to.not.equal('');
    }
    expect(json('{"a": 1, "b": "cut o')[0]?.embedded).to.equal('a: 1');
    expect(json('{"a": "\\u0000\\ud800x"}')[0]?.embedded).to.equal('a:  \ufffdx');
  });
});

describe('What is embedded of a Markdown text', () => {
  it('is without marks: titles, links as their texts, tables as rows, code as it is', () => {
    const text = [
      'Title\n=====',
      '## A *second* title ##',
      'Some **bold** and _slanted_ [linked words](https://example.com/path "hint"), ![a picture](x.png) &c.',
      '> quoted\n> on two lines',
      '1. first\n2. second\n   - inner `code_here`',
      '| Month | Work |\n|---|:-:|\n| May | **swarms** |',
      '```js\nconst a = b * c * d;\n# no title\n```',
      '---',
      '<div align="center">inside <b>tags</b></div>',
      '[ref]: https://example.com/hidden',
      '\\*not slanted\\*',
    ].join('\n\n');
    expect(markdown(text)[0]?.embedded).to.equal(
      [
        'Title',
        'A second title',
        'Some bold and slanted linked words, a picture &c.',
        'quoted\non two lines',
        'first\nsecond\ninner code_here',
        'Month | Work\nMay | swarms',
        'const a = b * c * d;\n# no title',
        'inside  tags',
        '*not slanted*',
      ].join('\n\n'),
    );
    expect(markdown(text)[0]?.text).to.equal(text);
  });

  it('knows where a block of code goes on', () => {
    const code = Array.from({ length: 120 }, (_, index) => `# step ${index}\n**value** = ${index}`).join('\n');
    const chunks = markdown(`Before.\n\n~~~~sh\n${code}\n~~~\n~~~~\n\n**After** it.`);
    expect(chunks.length).to.be.above(2);
    for (const { embedded: one } of chunks.slice(1, -1)) expect(one).to.match(/# step \d+\n\*\*value\*\*/);
    expect(chunks.at(-1)?.embedded).to.match(/\*\*value\*\* = 119\n~~~\n\nAfter it\.$/);
  });
});

describe('What is embedded of a hostile text', () => {
  const nested = (count: number) => '{"a":'.repeat(count);
  const hostile: Record<string, string[]> = {
    'text/csv': [
      ',\n'.repeat(60_000),
      '"'.repeat(200_000),
      `${'name,'.repeat(3_000)}\n${'x,'.repeat(90_000)}`,
      '"a""'.repeat(50_000),
      'a'.repeat(200_000),
    ],
    'application/json': [
      '['.repeat(200_000),
      nested(40_000),
      `${nested(20_000)}1${',"b":1}'.repeat(12_000)}`,
      '1,'.repeat(100_000),
      `{"${'k'.repeat(50_000)}":{"${'l'.repeat(50_000)}":[${'{"a":1},'.repeat(10_000)}`,
      `"${'\\'.repeat(199_000)}`,
      `"${'\\"'.repeat(99_000)}`,
      ':'.repeat(200_000),
    ],
    'text/markdown': [
      '>'.repeat(200_000),
      '['.repeat(200_000),
      '*a **b '.repeat(28_000),
      '`'.repeat(200_000),
      '~~~\n'.repeat(50_000),
      '- '.repeat(100_000),
      '<'.repeat(200_000),
      '![](('.repeat(40_000),
      '| a '.repeat(50_000),
      '&#'.repeat(100_000),
    ],
  };
  for (const [contentType, texts] of Object.entries(hostile))
    it(`of the type ${contentType} is made in time, and is not much more than there is`, () => {
      for (const text of texts) {
        const chunks = cutChunks(text, noOutline, { contentType });
        expectInPlace(text, chunks);
        expect(chunks.length).to.be.most(2_000);
        expect(embedded(chunks).length).to.be.most(4 * text.length);
      }
    });

  it('loses nothing, whatever the text is', () => {
    const token = fc.oneof(
      fc.constantFrom('{', '}', '[', ']', '"', ',', ':', ';', '\n', ' ', '\\', '"a"', '{"a":1}', '|', '**', '```\n', '# ', '\n\n', 'true'),
      fc.string({ unit: 'grapheme', maxLength: 20 }),
    );
    const text = fc.array(token, { maxLength: 200 }).map((tokens) => tokens.join(''));
    fc.assert(
      fc.property(text, fc.constantFrom(...Object.keys(hostile)), fc.constantFrom(60, 1_200), (one, contentType, characters) => {
        const chunks = cutChunks(one, noOutline, { contentType, ...size(characters) });
        expectInPlace(one, chunks);
        for (const chunk of chunks) {
          expect([...chunk.text].length).to.be.most(characters);
          expect(chunk.embedded).to.not.equal('');
          if (contentType !== 'text/markdown') expect([...chunk.embedded].length).to.be.most(characters);
        }
      }),
      { numRuns: 300 },
    );
  });
});
