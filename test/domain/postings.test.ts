import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { splitText } from '../../domain/chunking/split-text.ts';
import { getDocument } from '../../domain/documents/document.ts';
import { firstLetter, Postings, postingLength } from '../../domain/search/postings.ts';
import { termsOf } from '../../domain/search/terms.ts';
import { insertDocument, insertWorkspace } from '../support/chunks.ts';
import { collectGarbage } from '../support/collect-garbage.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const texts = splitText(readFileSync('docs/examples/samples/lighthouse-log.txt', 'utf8')).map(({ text }) => text);

/** Of each term: chunk, frequency and length of each posting, in their order, counted with no regard to time or memory. */
function count(chunks: string[]): Map<string, number[][]> {
  const postings = new Map<string, number[][]>();
  for (const [index, terms] of chunks.map((text) => termsOf(text)).entries())
    for (const term of new Set(terms))
      postings.set(term, [...(postings.get(term) ?? []), [index, terms.filter((one) => one === term).length, terms.length]]);
  return postings;
}

describe('Postings of a document', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
    await insertWorkspace(database.db, 'one', { model: 'a', dimensions: 1 });
  });
  after(() => database.drop());

  let documents = 0;
  /** Stores the postings of texts, and reads the rows. */
  async function store(chunks: string[]) {
    const { db } = database;
    const id = `document-${documents++}`;
    await insertDocument(db, { id, workspaceId: 'one' }, 'a', []);
    const postings = new Postings();
    postings.add(chunks.slice(0, 1));
    postings.add(chunks.slice(1));
    const row = await getDocument(db, id);
    await db.transaction().execute((trx) => postings.store(trx, row));
    const document = await db.selectFrom('lexical_document').selectAll().where('document_id', '=', id).executeTakeFirstOrThrow();
    const read = db.selectFrom('posting').selectAll().where('document_number', '=', document.number).orderBy('term').orderBy('part');
    return { document, rows: await read.execute() };
  }

  function read(rows: { term: string; postings: string }[]): Map<string, number[][]> {
    const postings = new Map<string, number[][]>();
    for (const { term, postings: letters } of rows) {
      const numbers = [...letters].map((letter) => letter.charCodeAt(0) - firstLetter);
      const each = Array.from({ length: numbers.length / postingLength }, (_, n) =>
        numbers.slice(n * postingLength, (n + 1) * postingLength),
      );
      postings.set(term, [...(postings.get(term) ?? []), ...each]);
    }
    return postings;
  }

  it('are those of each term of its chunks', async () => {
    const { document, rows } = await store(texts);
    expect([...read(rows)].sort()).to.deep.equal([...count(texts)].sort());
    expect(document.terms).to.have.members([...count(texts).keys()]);
    expect(document).to.include({ chunk_count: texts.length, term_count: texts.flatMap((text) => termsOf(text)).length });
  });

  it('hold the largest numbers that they can instead of larger ones', async () => {
    const { document, rows } = await store(['word '.repeat(300), `${'other '.repeat(4_095)} lost`]);
    expect(read(rows).get('word')).to.deep.equal([[0, 255, 300]]);
    expect(read(rows).get('other')).to.deep.equal([[1, 255, 4_095]]);
    expect(document).to.include({ term_count: 4_395 });
    expect(document.terms).not.to.include('lost');
  });
});

describe('Terms of a text', () => {
  it('are the words around a sign, which is no part of them', () => {
    expect(termsOf('3½ cups', 'en')).to.have.members(['3', '1', '2', 'cups', 'cup']);
    expect(termsOf('Kubernetes™ 5 m² Einstein²', 'en')).to.have.members(['kubernetes', 'kubernet', '5', 'm2', 'einstein']);
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
      expect(termsOf(`${text} é`, 'en'), JSON.stringify(text)).to.deep.equal([...termsOf(text, 'en'), 'e']);
    }
  });
});

/** Another word of letters for each number. */
function toLetters(number: number): string {
  return [...number.toString().padStart(4, '0')].map((digit) => 'abcdefghij'[Number(digit)]).join('');
}
