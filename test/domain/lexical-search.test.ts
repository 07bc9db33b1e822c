import { globSync, readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { Kysely, type KyselyPlugin, PostgresDialect, sql } from 'kysely';
import type { Db } from '../../db/connect.ts';
import type { Database } from '../../db/schema.ts';
import { splitText } from '../../domain/chunking/split-text.ts';
import { getDocument } from '../../domain/documents/document.ts';
import { workspaceKeyOf } from '../../domain/search/postings.ts';
import { rankByWords, type WordQuery } from '../../domain/search/rank-by-words.ts';
import { readQuery } from '../../domain/search/read-query.ts';
import { storeChunks } from '../../domain/search/store-chunks.ts';
import { termsOf } from '../../domain/search/terms.ts';
import { find, insertDocument, insertWorkspace, storeIn } from '../support/chunks.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const vector = [1, 0];
const pages = globSync('docs/*.md').map((page) => splitText(readFileSync(page, 'utf8')).map(({ text }) => text));
const queries = [
  'how are the vectors of chunks scanned',
  'locks of an organization and its credits',
  'what happens to an outbox lease after a commit',
  'search',
  'pgvector 0.8 halfvec',
];

describe('Search by words', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());

  /** Makes a workspace of documents named `<id>-<number>`, each stored as its job would store it. */
  async function makeWorkspace(id: string, documents: string[][]): Promise<void> {
    await insertWorkspace(database.db, id, { model: 'a', dimensions: vector.length });
    for (const [number, texts] of documents.entries())
      await insertDocument(database.db, { id: `${id}-${number}`, workspaceId: id }, 'a', toChunks(texts));
  }

  const toChunks = (texts: string[]) => texts.map((text) => ({ text, embedding: vector }));
  const store = (documentId: string, texts: string[]) => storeIn(database.db, documentId, 'a', toChunks(texts));
  const search = (workspaceId: string, query: string, limit = 10) => find(database.db, { workspaceId, query, limit });
  const searchByBoth = (db: Db, workspaceId: string, query: string) =>
    find(db, { workspaceId, query, limit: 10, embedded: { model: 'a', vector: [0.6, 0.8] } });
  const rankAll = (query: WordQuery) => database.db.transaction().execute((trx) => rankByWords(trx, query));
  const rank = async (query: WordQuery) => (await rankAll(query)).chunks;
  const textsOf = async (workspaceId: string, query: string) => (await search(workspaceId, query, 50)).map(({ text }) => text);

  const countPostings = async (workspaceId: string) =>
    (await database.db.selectFrom('posting').select('term').where('workspace_key', '=', workspaceKeyOf(workspaceId)).execute()).length;

  /** BM25 as it is defined, over texts in memory: every chunk's score by its document and index. */
  function scoreInMemory(documents: string[][], id: string, query: string, nearTerms: string[] = []): Map<string, number> {
    const chunks = documents.flatMap((texts, number) =>
      texts.map((text, index) => ({ key: `${id}-${number} ${index}`, terms: termsOf(text) })),
    );
    const average = chunks.reduce((sum, { terms }) => sum + terms.length, 0) / chunks.length;
    const scores = new Map<string, number>();
    const weights = [...readQuery(query).terms, ...nearTerms.map((term) => [term, 0.25] as const)];
    for (const [term, weight] of weights) {
      const having = chunks.filter(({ terms }) => terms.includes(term)).length;
      for (const { key, terms } of chunks) {
        const frequency = terms.filter((one) => one === term).length;
        if (frequency === 0) continue;
        const idf = Math.log((chunks.length - having + 0.5) / (having + 0.5) + 1);
        const score = (weight * idf * (frequency * 2.2)) / (frequency + 1.2 * (0.25 + (0.75 * terms.length) / average));
        scores.set(key, (scores.get(key) ?? 0) + score);
      }
    }
    return scores;
  }

  async function expectExactScores(id: string, documents: string[][]): Promise<void> {
    for (const query of queries) {
      const { chunks: best, nearTerms } = await rankAll({ workspaceId: id, query, limit: 10_000 });
      const expected = scoreInMemory(documents, id, query, nearTerms);
      expect(best.map(({ documentId, index }) => `${documentId} ${index}`)).to.have.members([...expected.keys()]);
      for (const found of best) {
        expect(found.score).to.be.closeTo(expected.get(`${found.documentId} ${found.index}`) ?? 0, 1e-9);
      }
      const scores = best.map(({ score }) => score);
      expect(scores).to.deep.equal([...scores].sort((one, other) => other - one));
    }
  }

  it('ranks and scores real text as BM25 in memory does', async () => {
    await makeWorkspace('real', pages);
    await expectExactScores('real', pages);
    const { nearTerms } = await rankAll({ workspaceId: 'real', query: queries[0] ?? '', limit: 1 });
    const expected = [...scoreInMemory(pages, 'real', queries[0] ?? '', nearTerms).values()].sort((one, other) => other - one);
    const found = await search('real', queries[0] ?? '', 5);
    expect(found.map(({ rank }) => rank)).to.deep.equal([1, 2, 3, 4, 5]);
    for (const [place, { lexicalScore, score }] of found.entries()) {
      expect(lexicalScore).to.be.closeTo(expected[place] ?? 0, 1e-9);
      expect(score).to.equal(null);
    }
  });

  it('keeps what other tenants store out of scores and results', async () => {
    const before = await search('real', 'quantized vectors', 50);
    await makeWorkspace('neighbor', [Array.from({ length: 50 }, (_, n) => `quantized vectors of a zebra ${n}`)]);
    expect(await search('real', 'quantized vectors', 50)).to.deep.equal(before);
    expect(await search('real', 'zebra', 50)).to.deep.equal([]);
    expect((await search('neighbor', 'quantized', 50)).every(({ document_id }) => document_id === 'neighbor-0')).to.equal(true);
    expect(await search('none', 'quantized')).to.deep.equal([]);
  });

  it('shows nothing of a workspace that was deleted, before its documents are drained', async () => {
    await makeWorkspace('deleted', [['a secret of glass', 'another secret']]);
    expect(await textsOf('deleted', 'secret')).to.have.lengthOf(2);
    await database.db.deleteFrom('workspace').where('id', '=', 'deleted').execute();
    expect([await search('deleted', 'secret'), await searchByBoth(database.db, 'deleted', 'secret')]).to.deep.equal([[], []]);
  });

  it('forgets what a document had when it is indexed again or deleted, also in its counts', async () => {
    const documents = [['a lens of glass', 'the old mirror'], ['another mirror and a lens']];
    await makeWorkspace('changing', documents);
    const terms = documents.map((texts) => new Set(texts.flatMap((text) => termsOf(text))).size);
    expect(await countPostings('changing')).to.equal(terms.reduce((sum, count) => sum + count));
    expect(await textsOf('changing', 'mirror')).to.have.members(['the old mirror', 'another mirror and a lens']);
    await store('changing-0', ['the lens alone']);
    expect(await textsOf('changing', 'mirror')).to.deep.equal(['another mirror and a lens']);
    await expectExactScores('changing', [['the lens alone'], ['another mirror and a lens']]);
    const { lexicalScore } = (await search('changing', 'lens'))[0] ?? {};
    expect(lexicalScore).to.be.closeTo(
      Math.max(...scoreInMemory([['the lens alone'], documents[1] ?? []], 'changing', 'lens').values()),
      1e-9,
    );
    await database.db.deleteFrom('document').where('id', '=', 'changing-1').execute();
    expect(await textsOf('changing', 'mirror')).to.deep.equal([]);
    await store('changing-0', []);
    expect(await textsOf('changing', 'lens')).to.deep.equal([]);
    await database.db.deleteFrom('document').where('workspace_id', '=', 'changing').execute();
    expect(
      await database.db.selectFrom('lexical_document').select('document_id').where('workspace_id', '=', 'changing').execute(),
    ).to.deep.equal([]);
    expect(await countPostings('changing')).to.equal(0);
  });

  it('finds the old chunks or the new ones while a document is indexed again', async () => {
    const editions = [['first edition, first part', 'first edition, second part'], ['second edition']];
    await makeWorkspace('racing', [editions[0] ?? []]);
    let stored = false;
    const storing = (async () => {
      for (let round = 0; round < 40; round++) {
        await store('racing-0', editions[(round + 1) % 2] ?? []);
        await setTimeout(10);
      }
      stored = true;
    })();
    let searches = 0;
    while (!stored) {
      const found = await search('racing', 'edition');
      expect(editions).to.deep.include(found.map(({ text }) => text).sort());
      for (const { lexicalScore } of found) expect(lexicalScore).to.be.above(0);
      searches++;
    }
    await storing;
    expect(searches).to.be.above(1);
    expect(await textsOf('racing', 'edition')).to.have.members(editions[0] ?? []);
  });

  /** Does something after the first statement that returns rows with this column. */
  function afterRows(column: string, work: () => Promise<unknown>): KyselyPlugin {
    let isDone = false;
    return {
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        const [row] = result.rows;
        if (row && column in row && !isDone) {
          isDone = true;
          await work();
        }
        return result;
      },
    };
  }

  const ways = {
    words: (db: Db, workspaceId: string) => find(db, { workspaceId, query: 'glass', limit: 10 }),
    both: (db: Db, workspaceId: string) => searchByBoth(db, workspaceId, 'glass'),
  };
  for (const [way, findIn] of Object.entries(ways))
    for (const column of ['frequency', 'letters', 'number'])
      it(`finds by ${way} what a document had if it is indexed again after the first read of a ${column}`, async () => {
        const id = `again-${way}-${column}`;
        await makeWorkspace(id, [['clear glass', 'a hive', 'more glass'], ['glass elsewhere']]);
        const before = await findIn(database.db, id);
        const storeOther = afterRows(column, () => store(`${id}-0`, ['a hive', 'a lens of colored glass']));
        expect(await findIn(database.db.withPlugin(storeOther), id)).to.deep.equal(before);
        expect(await findIn(database.db, id)).to.not.deep.equal(before);
      });

  it('counts writers of one workspace without making them wait for each other', async () => {
    await makeWorkspace('busy', [['one'], ['two']]);
    const kind = { model: 'a', dimensions: vector.length, chunking: '1' };
    const [first, second] = await Promise.all(['busy-0', 'busy-1'].map((id) => getDocument(database.db, id)));
    await database.db.transaction().execute(async (trx) => {
      await storeChunks(trx, first as never, kind, toChunks(['shared word']));
      // It would wait for the first one's commit for ever.
      await database.db.transaction().execute((other) => storeChunks(other, second as never, kind, toChunks(['shared too'])));
    });
    expect(await textsOf('busy', 'shared')).to.have.members(['shared word', 'shared too']);
  });

  it('splits the postings of a common term, and reads them from their index alone', async () => {
    const documents = [Array.from({ length: 700 }, (_, n) => `common ${n}`)];
    await makeWorkspace('common', documents);
    expect(await rank({ workspaceId: 'common', query: 'common', limit: 1_000 })).to.have.length(700);
    await sql`vacuum analyze posting`.execute(database.db);
    const { rows } = await sql<{ 'QUERY PLAN': string }>`explain select postings from posting
      where workspace_key = ${workspaceKeyOf('common')} and term = any('{one,two}'::text[])`.execute(database.db);
    expect(rows.map((row) => row['QUERY PLAN']).join('\n')).to.include('Index Only Scan using posting_pkey');
  });

  it('finds those of the first documents, of more equal chunks than are wanted', async () => {
    await makeWorkspace(
      'equal',
      Array.from({ length: 150 }, () => Array.from({ length: 300 }, () => 'equal')),
    );
    const best = await rank({ workspaceId: 'equal', query: 'equal', limit: 400 });
    expect(new Set(best.map(({ documentId }) => documentId))).to.have.all.keys(['equal-0', 'equal-1']);
  });

  it('reads no postings of a term that is too common for the query', async () => {
    await makeWorkspace('crowded', [['rare common']]);
    // 300 postings in a row: more than a million together.
    await sql`insert into posting (workspace_key, term, document_number, part, chunk_count, postings)
      select ${workspaceKeyOf('crowded')}, 'common', 1000000 + n, 0, 300, repeat(${'\u0100\u0101\u0101'}, 300)
      from generate_series(1, 3400) as series (n)`.execute(database.db);
    const lengths: number[] = [];
    const db = new Kysely<Database>({ dialect: new PostgresDialect({ pool: database.pool }) }).withPlugin({
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        for (const { letters } of result.rows) if (letters) lengths.push(String(letters).length);
        return result;
      },
    });
    const { chunks } = await db
      .transaction()
      .execute((trx) => rankByWords(trx, { workspaceId: 'crowded', query: 'common rare', limit: 10 }));
    expect(chunks.map(({ documentId }) => documentId)).to.deep.equal(['crowded-0']);
    expect(lengths).to.have.length(1);
    expect(lengths[0]).to.be.below(20);
  });

  it('fuses words and meaning, with exact scores of both', async () => {
    await makeWorkspace('both', [['the mirror of the telescope', 'a dome', 'mirror, mirror']]);
    await database.db.updateTable('chunk').set({ model: 'b' }).where('document_id', '=', 'both-0').where('index', '=', 2).execute();
    const found = await searchByBoth(database.db, 'both', 'mirror');
    expect(found.map(({ text }) => text)).to.deep.equal(['mirror, mirror', 'the mirror of the telescope', 'a dome']);
    expect(found.map(({ rank }) => rank)).to.deep.equal([1, 2, 3]);
    const lexical = new Map((await search('both', 'mirror')).map(({ text, lexicalScore }) => [text, lexicalScore]));
    for (const { text, score, lexicalScore } of found) {
      expect(lexicalScore).to.equal(lexical.get(text) ?? 0);
      if (text === 'mirror, mirror') expect(score).to.equal(null);
      else expect(score).to.be.closeTo(0.6, 1e-6);
    }
  });

  const finds: [query: string, text: string][] = [
    ['INV-2024-001', 'Invoice INV-2024-001 of May'],
    ['inv 001', 'Invoice INV-2024-001 of May'],
    ['ada@example.com', 'Write to Ada@Example.com.'],
    ['example.com', 'Write to Ada@Example.com.'],
    ['foo_bar', 'calls foo_bar(1)'],
    ['bar', 'calls foo_bar(1)'],
    ['1200', 'for 1,200 hours'],
    ['STRASSE', 'die lange Straße'],
    ['ete', 'pendant l’été'],
    ['елка', 'новогодняя Ёлка'],
    ['mirrors', 'one mirror'],
    ['望遠鏡', '天文台の望遠鏡を掃除する'],
    ['猫', '黒猫がいる'],
    ['ซ่อม', 'ซ่อมกล้องโทรทรรศน์'],
    ['ﬁle', 'a file'],
    ['Donaudampfschifffahrt', 'Die Donau\u00addampf\u00adschiff\u00adfahrt begann'],
    ['internationalization', 'inter\u200bnational\u2060ization'],
    ['inter\u200bnationalization', 'internationalization'],
    ['Kubernetes', 'We run Kubernetes™ here'],
    ['Kubernetes®', 'We run Kubernetes here'],
    ['Einstein', 'as Einstein¹² said'],
    ['m2', 'a plot of 120 m²'],
    ['3', 'about 3½ cups'],
    ['to be or not to be', 'to be, or not to be'],
    ['ايجار', 'عقد إيجار مرآب'],
    ['الإيجار', 'عقد إيجار مرآب'],
    ['ספר', 'קראתי את הספר'],
    ['C++', 'written in C++'],
    ['c#', 'written in C#, mostly'],
    ['child', 'two children'],
    ['mice', 'a mouse'],
  ];
  for (const [number, [query, text]] of finds.entries()) {
    it(`finds “${text}” by “${query}”`, async () => {
      await makeWorkspace(`word${number}`, [['nothing 777 of it', text]]);
      expect(await textsOf(`word${number}`, query)).to.deep.equal([text]);
    });
  }

  it('takes a language with a sign for no letter, and a sign for nothing', async () => {
    await makeWorkspace('signed', [['vitamin C'], ['in C++'], ['in C#']]);
    for (const [query, text] of [
      ['c', 'vitamin C'],
      ['C++', 'in C++'],
      ['C#', 'in C#'],
    ] as const)
      expect(await textsOf('signed', query)).to.deep.equal([text]);
    expect(await textsOf('signed', '+ #')).to.deep.equal([]);
  });

  it('bounds what a word and a query take', async () => {
    expect(termsOf('x'.repeat(2_000))).to.deep.equal(['x'.repeat(64)]);
    await makeWorkspace('long', [[`${'x'.repeat(2_000)} lens`]]);
    expect(await search('long', 'x'.repeat(1_000))).to.have.length(1);
    const words = Array.from({ length: 300 }, (_, n) => `w${n}`);
    expect(await search('long', ['lens', ...words].join(' '))).to.have.length(1);
    expect(await search('long', '?!')).to.deep.equal([]);
  });

  it('takes a long query whole, and what it leaves out of a longer one for nothing that is misspelled', async () => {
    // Each has a stem beside itself, so that a word is two terms.
    const endings = ['unting', 'olding', 'amping'];
    const words = [...'abcdefghijklmnopqrstuvwxyz'].flatMap((letter) => endings.map((ending) => letter + letter + ending));
    const misspelled = words.map((word) => `${word.slice(0, 3)}x${word.slice(3)}`);
    await makeWorkspace('asked', [Array(10).fill(words.join(' ')), [`${words[45]} in a hall`], [misspelled.join(' ')]]);
    const { chunks, nearTerms } = await rankAll({ workspaceId: 'asked', query: words.join(' '), limit: 20 });
    expect(chunks.map(({ documentId }) => documentId)).to.include('asked-1');
    expect(nearTerms).to.deep.equal([]);
  });
});
