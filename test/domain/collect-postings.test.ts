import { readFileSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { splitText } from '../../domain/chunking/split-text.ts';
import { collectPostings, type DocumentPostings } from '../../domain/lexical/collect-postings.ts';
import { postingLength, readFrequency, readIndex, readLength } from '../../domain/lexical/postings.ts';
import { termKeyOf } from '../../domain/lexical/term-keys.ts';
import { termsOf } from '../../domain/lexical/terms.ts';
import { collectGarbage } from '../support/collect-garbage.ts';

const texts = splitText(readFileSync('examples/samples/lighthouse-log.txt', 'utf8')).map(({ text }) => text);

/** Of each term, by its key: chunk, frequency and length of each posting, in their order. */
function read({ rows }: DocumentPostings): Map<number, number[][]> {
  const postings = new Map<number, number[][]>();
  for (const row of rows) {
    const bytes = Buffer.from(row.postings);
    const ofTerm = postings.get(row.term) ?? [];
    for (let at = 0; at < bytes.length; at += postingLength)
      ofTerm.push([readIndex(bytes, at), readFrequency(bytes, at), readLength(bytes, at)]);
    postings.set(row.term, ofTerm);
  }
  return postings;
}

/** The same, counted with no regard to time or memory. */
function count(chunks: string[]): Map<number, number[][]> {
  const postings = new Map<number, number[][]>();
  for (const [index, terms] of chunks.map(termsOf).entries()) {
    for (const term of new Set(terms)) {
      const ofTerm = postings.get(termKeyOf(term)) ?? [];
      ofTerm.push([index, terms.filter((one) => one === term).length, terms.length]);
      postings.set(termKeyOf(term), ofTerm);
    }
  }
  return postings;
}

describe('Postings of a document', () => {
  it('are those of each term of its chunks, in the order of the index', async () => {
    const collected = await collectPostings(texts, 'a workspace');
    expect([...read(collected)].sort()).to.deep.equal([...count(texts)].sort());
    expect(collected.terms).to.deep.equal([...count(texts).keys()].sort((one, other) => one - other));
    expect([...new Set(collected.rows.map(({ term }) => term))]).to.deep.equal(collected.terms);
    expect(collected).to.include({ chunkCount: texts.length, termCount: texts.flatMap(termsOf).length });
  });

  it('of a common term are in several rows, each of which an index can hold', async () => {
    const common = Array.from({ length: 1_000 }, () => 'common');
    const { rows } = await collectPostings(common, 'a workspace');
    expect(rows.map(({ number }) => number)).to.deep.equal([0, 1, 2, 3]);
    expect(rows.map(({ postings }) => postings.length)).to.deep.equal([1_500, 1_500, 1_500, 500]);
  });

  it('hold the largest numbers that they can instead of larger ones', async () => {
    const collected = await collectPostings(['word '.repeat(100), `${'other '.repeat(4_095)} lost`], 'a workspace');
    expect(read(collected).get(termKeyOf('word'))).to.deep.equal([[0, 63, 100]]);
    expect(read(collected).get(termKeyOf('other'))).to.deep.equal([[1, 63, 4_095]]);
    expect(collected).to.include({ termCount: 4_195 });
    expect(collected.terms).not.to.include(termKeyOf('lost'));
    expect(await collectPostings([], 'a workspace')).to.deep.equal({ chunkCount: 0, termCount: 0, terms: [], rows: [] });
  });

  it('are collected in turns, which leave others the thread', async () => {
    const many = Array.from({ length: 2_000 }, (_, index) => texts[index % texts.length] ?? '');
    let turns = 0;
    let isOver = false;
    const other = (async () => {
      for (; !isOver; turns++) await nextTurn();
    })();
    const collected = await collectPostings(many, 'a workspace');
    isOver = true;
    await other;
    expect([...read(collected)].sort()).to.deep.equal([...count(many)].sort());
    expect(turns).to.be.above(5);
  });
});

describe('Terms of a text', () => {
  it('are the words around a sign, which is no part of them', () => {
    expect(termsOf('3½ cups')).to.have.members(['3', '1', '2', 'cup']);
    expect(termsOf('Kubernetes™ 5 m² Einstein²')).to.have.members(['kubernet', '5', 'm2', 'einstein']);
    expect(termsOf('in\u00advisible\u200b\u2060ness')).to.deep.equal(termsOf('invisibleness'));
    // Joiners of scripts in which they part words, or make another letter.
    expect(termsOf('می\u200cخواهم')).to.deep.equal(['می', 'خواهم']);
  });

  it('keep no texts that they stood in', async () => {
    const heapAfter = async (count: number) => {
      for (let number = 0; number < count; number++) termsOf(`${'long text '.repeat(1_000)} internationalization${toLetters(number)}`);
      await collectGarbage();
      return process.memoryUsage().heapUsed;
    };
    const before = await heapAfter(0);
    expect((await heapAfter(3_000)) - before).to.be.below(0.2 * 3_000 * 10_000);
  });

  it('are the same in ASCII as among other letters, whatever joins its words', () => {
    const characters = [...'ab1Z  .,:-_/@+#&\'"\n'];
    let seed = 7;
    const next = () => {
      seed = (seed * 48_271) % 2_147_483_647;
      return characters[seed % characters.length];
    };
    for (let round = 0; round < 2_000; round++) {
      const text = Array.from({ length: 30 }, next).join('');
      expect(termsOf(`${text} é`), JSON.stringify(text)).to.deep.equal([...termsOf(text), 'e']);
    }
  });
});

/** Another word of letters for each number. */
function toLetters(number: number): string {
  return [...number.toString().padStart(4, '0')].map((digit) => 'abcdefghij'[Number(digit)]).join('');
}
