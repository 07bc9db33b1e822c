import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { type CompiledQuery, Kysely, type KyselyPlugin, PostgresDialect, sql } from 'kysely';
import type { Database } from '../../db/schema.ts';
import { splitText } from '../../domain/chunking/split-text.ts';
import { storeChunks } from '../../domain/chunks/store-chunks.ts';
import { getDocument } from '../../domain/documents/document.ts';
import { indexPostings } from '../../domain/lexical/index-postings.ts';
import { findDocumentIds, rankByWords } from '../../domain/lexical/rank-by-words.ts';
import { termKeyOf, workspaceKeyOf } from '../../domain/lexical/term-keys.ts';
import { queryTermsOf, termsOf } from '../../domain/lexical/terms.ts';
import { searchByBoth, searchByWords } from '../../domain/search/search-by-words.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const vector = [1, 0];
const pages = readdirSync('docs/decisions').map((name) =>
  splitText(readFileSync(`docs/decisions/${name}`, 'utf8')).map(({ text }) => text),
);
const queries = [
  'how are quantized vectors scanned',
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
    const { db } = database;
    await db.insertInto('organization').values({ id, name: id, slug: id, createdAt: new Date() }).execute();
    await db.insertInto('workspace').values({ id, organization_id: id, name: id, slug: id }).execute();
    for (const [number, texts] of documents.entries()) {
      const document = {
        id: `${id}-${number}`,
        organization_id: id,
        workspace_id: id,
        name: `${number}.txt`,
        object_key: `${id}-${number}`,
      };
      await db
        .insertInto('document')
        .values({ ...document, content_type: 'text/plain', size_bytes: 1, status: 'ready' })
        .execute();
      await store(document.id, texts);
    }
  }

  async function store(documentId: string, texts: string[]): Promise<void> {
    const document = await getDocument(database.db, documentId);
    const chunks = texts.map((text) => ({ text, embedding: vector }));
    await database.db.transaction().execute((trx) => storeChunks(trx, document, 'a', chunks));
  }

  const search = (workspaceId: string, query: string, limit = 10) => searchByWords(database.db, { workspaceId, query, limit });
  const textsOf = async (workspaceId: string, query: string) => (await search(workspaceId, query, 50)).map(({ text }) => text);

  const countPostings = async (workspaceId: string) =>
    (await database.db.selectFrom('posting').select('term').where('workspace_key', '=', workspaceKeyOf(workspaceId)).execute()).length;

  /** BM25 as it is defined, over texts in memory: every chunk's score by its document and index. */
  function scoreInMemory(documents: string[][], id: string, query: string): Map<string, number> {
    const chunks = documents.flatMap((texts, number) =>
      texts.map((text, index) => ({ key: `${id}-${number} ${index}`, terms: termsOf(text) })),
    );
    const average = chunks.reduce((sum, { terms }) => sum + terms.length, 0) / chunks.length;
    const scores = new Map<string, number>();
    for (const term of queryTermsOf(query)) {
      const having = chunks.filter(({ terms }) => terms.includes(term)).length;
      for (const { key, terms } of chunks) {
        const frequency = terms.filter((one) => one === term).length;
        if (frequency === 0) continue;
        const idf = Math.log((chunks.length - having + 0.5) / (having + 0.5) + 1);
        const score = (idf * (frequency * 2.2)) / (frequency + 1.2 * (0.25 + (0.75 * terms.length) / average));
        scores.set(key, (scores.get(key) ?? 0) + score);
      }
    }
    return scores;
  }

  async function expectExactScores(id: string, documents: string[][]): Promise<void> {
    for (const query of queries) {
      const expected = scoreInMemory(documents, id, query);
      const { best, scoreOf } = await rankByWords(database.db, { workspaceId: id, query, count: 10_000 });
      expect(best.map(({ documentId, index }) => `${documentId} ${index}`)).to.have.members([...expected.keys()]);
      for (const found of best) {
        expect(found.score).to.be.closeTo(expected.get(`${found.documentId} ${found.index}`) ?? 0, 1e-9);
      }
      const scores = best.map(({ score }) => score);
      expect(best.map(({ number, index }) => scoreOf(number, index))).to.deep.equal(scores);
      expect(scores).to.deep.equal([...scores].sort((one, other) => other - one));
    }
  }

  it('ranks and scores real text as BM25 in memory does', async () => {
    await makeWorkspace('real', pages);
    await expectExactScores('real', pages);
    const expected = [...scoreInMemory(pages, 'real', queries[0] ?? '').values()].sort((one, other) => other - one);
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
    const numbers = await database.db.selectFrom('lexical_document').select('number').where('workspace_id', '=', 'neighbor').execute();
    expect(numbers).to.not.deep.equal([]);
    expect(await findDocumentIds(database.db, 'real', numbers)).to.deep.equal(new Map());
  });

  it('shows nothing of a workspace that was deleted, before its documents are drained', async () => {
    await makeWorkspace('deleted', [['a secret of glass', 'another secret']]);
    expect(await textsOf('deleted', 'secret')).to.have.lengthOf(2);
    await database.db.deleteFrom('workspace').where('id', '=', 'deleted').execute();
    const both = { workspaceId: 'deleted', query: 'secret', limit: 10, model: 'a', vector: [0.6, 0.8] };
    expect([await search('deleted', 'secret'), await searchByBoth(database.db, both)]).to.deep.equal([[], []]);
  });

  it('forgets what a document had when it is indexed again or deleted, also in its counts', async () => {
    const documents = [['a lens of glass', 'the old mirror'], ['another mirror and a lens']];
    await makeWorkspace('changing', documents);
    expect(await countPostings('changing')).to.equal(12);
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

  /** Does something after each statement that returns rows with this column, so many times. */
  function afterRows(column: 'frequency' | 'number', times: number, work: () => Promise<unknown>): KyselyPlugin {
    let left = times;
    return {
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        if (result.rows[0] && column in result.rows[0] && left-- > 0) await work();
        return result;
      },
    };
  }

  const ways = {
    words: (db: Kysely<Database>, workspaceId: string) => searchByWords(db, { workspaceId, query: 'glass', limit: 10 }),
    both: (db: Kysely<Database>, workspaceId: string) =>
      searchByBoth(db, { workspaceId, query: 'glass', limit: 10, model: 'a', vector: [0.6, 0.8] }),
  };
  const moments = { frequency: 'its postings were read', number: 'its number was found' } as const;
  for (const [way, find] of Object.entries(ways))
    for (const [column, moment] of Object.entries(moments))
      it(`finds by ${way} all that a document had or has, if it is indexed again after ${moment}`, async () => {
        const id = `again-${way}-${column}`;
        await makeWorkspace(id, [['clear glass', 'a hive', 'more glass'], ['glass elsewhere']]);
        const storeOther = afterRows(column as keyof typeof moments, 1, () => store(`${id}-0`, ['a hive', 'a lens of colored glass']));
        const before = await find(database.db, id);
        const found = await find(database.db.withPlugin(storeOther), id);
        const since = await find(database.db, id);
        expect(since).to.not.deep.equal(before);
        expect([before, since]).to.deep.include(found);
      });

  it('ends with what else is found if a document is indexed again without end', async () => {
    await makeWorkspace('endless', [['clear glass'], ['glass elsewhere']]);
    let stored = 0;
    const storeAgain = afterRows('frequency', 100, () => store('endless-0', [`clear glass ${++stored}`]));
    const found = await ways.words(database.db.withPlugin(storeAgain), 'endless');
    expect(found.map(({ text }) => text)).to.deep.equal(['glass elsewhere']);
    expect(stored).to.equal(5);
  });

  it('searches once if chunks are gone whose postings are there, as an older version leaves them', async () => {
    const { db } = database;
    await makeWorkspace('left', [['clear glass', 'more glass']]);
    await db.deleteFrom('chunk').where('document_id', '=', 'left-0').where('index', '=', 1).execute();
    for (const find of Object.values(ways)) {
      let searches = 0;
      const counting = afterRows('frequency', 100, async () => void searches++);
      expect((await find(db.withPlugin(counting), 'left')).map(({ text }) => text)).to.deep.equal(['clear glass']);
      expect(searches).to.equal(1);
    }
  });

  it('counts writers of one workspace without making them wait for each other', async () => {
    await makeWorkspace('busy', [['one'], ['two']]);
    const [first, second] = await Promise.all(['busy-0', 'busy-1'].map((id) => getDocument(database.db, id)));
    await database.db.transaction().execute(async (trx) => {
      await storeChunks(trx, first as never, 'a', [{ text: 'shared word', embedding: vector }]);
      // It would wait for the first one's commit for ever.
      await database.db
        .transaction()
        .execute((other) => storeChunks(other, second as never, 'a', [{ text: 'shared too', embedding: vector }]));
    });
    expect(await textsOf('busy', 'shared')).to.have.members(['shared word', 'shared too']);
  });

  it('gives their postings to documents that have none, or those of an earlier index', async () => {
    const { db } = database;
    await makeWorkspace('old', [['stored before'], ['indexed again since'], ['as it was']]);
    await db.deleteFrom('lexical_document').where('document_id', '=', 'old-0').execute();
    await db.updateTable('chunk').set({ text: 'indexed by an older version' }).where('document_id', '=', 'old-1').execute();
    await db.updateTable('document').set({ indexed_at: new Date() }).where('id', '=', 'old-1').execute();
    expect(await textsOf('old', 'stored version')).to.deep.equal([]);
    const reason = new Error('the activity was canceled');
    expect(await indexPostings(db, AbortSignal.abort(reason)).catch((error) => error)).to.equal(reason);
    const done = await Promise.all([indexPostings(db), indexPostings(db)]);
    expect(done.reduce((sum, count) => sum + count, 0)).to.equal(2);
    expect(await textsOf('old', 'stored version')).to.have.members(['stored before', 'indexed by an older version']);
    expect(await indexPostings(db)).to.equal(0);
  });

  it('gives other postings to documents with characters that were read otherwise before, and to no others', async () => {
    const { db } = database;
    await makeWorkspace('signs', [['we run kubernetestm'], ['we run nothing'], ['as it is: Kubernetes™']]);
    await db.updateTable('chunk').set({ text: 'we run Kubernetes™' }).where('document_id', '=', 'signs-0').execute();
    await sql`update lexical_document set terms_version = null where document_id in ('signs-0', 'signs-1')`.execute(db);
    const numbersOf = async () =>
      (await db.selectFrom('lexical_document').select('number').where('workspace_id', '=', 'signs').orderBy('document_id').execute()).map(
        ({ number }) => number,
      );
    const before = await numbersOf();
    expect(await textsOf('signs', 'kubernetes')).to.deep.equal(['as it is: Kubernetes™']);
    expect(await indexPostings(db)).to.equal(1);
    expect(await textsOf('signs', 'kubernetes')).to.have.members(['we run Kubernetes™', 'as it is: Kubernetes™']);
    const [first, ...others] = await numbersOf();
    expect(first).to.not.equal(before[0]);
    expect(others).to.deep.equal(before.slice(1));
    const { rows } = await sql`select 1 from lexical_document where terms_version is null and workspace_id = 'signs'`.execute(db);
    expect(rows).to.deep.equal([]);
  });

  it('splits the postings of a common term, and reads them from their index alone', async () => {
    const documents = [Array.from({ length: 700 }, (_, n) => `common ${n}`)];
    await makeWorkspace('common', documents);
    const found = await rankByWords(database.db, { workspaceId: 'common', query: 'common', count: 1_000 });
    expect(found.best).to.have.length(700);
    await sql`vacuum analyze posting`.execute(database.db);
    const { rows } = await sql<{ 'QUERY PLAN': string }>`explain select postings from posting
      where workspace_key = ${workspaceKeyOf('common')} and term = any('{1,2}'::bigint[])`.execute(database.db);
    expect(rows.map((row) => row['QUERY PLAN']).join('\n')).to.include('Index Only Scan using posting_pkey');
  });

  it('finds those of the first documents, of more equal chunks than are wanted', async () => {
    await makeWorkspace(
      'equal',
      Array.from({ length: 150 }, () => Array.from({ length: 300 }, () => 'equal')),
    );
    const { best } = await rankByWords(database.db, { workspaceId: 'equal', query: 'equal', count: 400 });
    expect(new Set(best.map(({ documentId }) => documentId))).to.have.all.keys(['equal-0', 'equal-1']);
  });

  it('collects no postings of a term that is too common for the query', async () => {
    await makeWorkspace('crowded', [['rare common']]);
    // 300 postings in a row: more than a million together.
    await sql`insert into posting (workspace_key, term, document_number, part, postings)
      select ${workspaceKeyOf('crowded')}, ${termKeyOf(termsOf('common')[0] as string)}, -n, 0, repeat('00101', 300)
      from generate_series(1, 3400) as series (n)`.execute(database.db);
    const { best } = await rankByWords(database.db, { workspaceId: 'crowded', query: 'common rare', count: 10 });
    expect(best.map(({ documentId }) => documentId)).to.deep.equal(['crowded-0']);
    expect(await collectedBy('crowded', 'common rare')).to.deep.equal([1]);
  });

  /** How many rows of postings are collected for a query. */
  async function collectedBy(workspaceId: string, query: string): Promise<number[]> {
    const plans: PlanNode[] = [];
    const statements: CompiledQuery[] = [];
    const db = new Kysely<Database>({
      dialect: new PostgresDialect({ pool: database.pool }),
      log: ({ query }) => void statements.push(query),
    });
    await rankByWords(db, { workspaceId, query, count: 10 });
    for (const { sql: text, parameters } of statements.filter((statement) => statement.sql.includes('string_agg'))) {
      const { rows } = await database.pool.query(`explain (analyze, verbose, format json) ${text}`, [...parameters]);
      plans.push(rows[0]['QUERY PLAN'][0].Plan);
    }
    return plans.flatMap(aggregatesOf).map(({ Plans: [read] = [] }) => (read ? read['Actual Rows'] * read['Actual Loops'] : 0));
  }

  it('reads no more than a million postings of a query whose rarest term has more, those of the latest documents', async () => {
    await makeWorkspace('only', [['common as all']]);
    await sql`insert into posting (workspace_key, term, document_number, part, postings)
      select ${workspaceKeyOf('only')}, ${termKeyOf(termsOf('common')[0] as string)}, -n, 0, repeat('00101', 300)
      from generate_series(1, 3400) as series (n)`.execute(database.db);
    const read = await rankByWords(database.db, { workspaceId: 'only', query: 'common', count: 10 });
    const { number } = await database.db
      .selectFrom('lexical_document')
      .select('number')
      .where('document_id', '=', 'only-0')
      .executeTakeFirstOrThrow();
    expect(read.scoreOf(number, 0)).to.not.equal(0);
    expect(await collectedBy('only', 'common')).to.deep.equal([1 + Math.floor((1_000_000 - 1) / 300)]);
  });

  interface PlanNode {
    'Node Type': string;
    'Actual Rows': number;
    'Actual Loops': number;
    Output?: string[];
    Plans?: PlanNode[];
  }

  /** The nodes of a plan that collect postings. */
  function aggregatesOf(node: PlanNode): PlanNode[] {
    const collects = node['Node Type'] === 'Aggregate' && node.Output?.some((output) => output.startsWith('string_agg('));
    return [...(collects ? [node] : []), ...(node.Plans ?? []).flatMap(aggregatesOf)];
  }

  it('fuses words and meaning, with exact scores of both', async () => {
    await makeWorkspace('both', [['the mirror of the telescope', 'a dome', 'mirror, mirror']]);
    await database.db.updateTable('chunk').set({ model: 'b' }).where('document_id', '=', 'both-0').where('index', '=', 2).execute();
    const found = await searchByBoth(database.db, { workspaceId: 'both', query: 'mirror', limit: 10, model: 'a', vector: [0.6, 0.8] });
    expect(found.map(({ text }) => text)).to.deep.equal(['the mirror of the telescope', 'mirror, mirror', 'a dome']);
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
  ];
  for (const [number, [query, text]] of finds.entries()) {
    it(`finds “${text}” by “${query}”`, async () => {
      await makeWorkspace(`word${number}`, [['nothing 777 of it', text]]);
      expect(await textsOf(`word${number}`, query)).to.deep.equal([text]);
    });
  }

  it('bounds what a word and a query take', async () => {
    expect(termsOf('x'.repeat(2_000))).to.deep.equal(['x'.repeat(64)]);
    await makeWorkspace('long', [[`${'x'.repeat(2_000)} lens`]]);
    expect(await search('long', 'x'.repeat(1_000))).to.have.length(1);
    const words = Array.from({ length: 300 }, (_, n) => `w${n}`);
    expect(await search('long', ['lens', ...words].join(' '))).to.have.length(1);
    expect(await search('long', '?!')).to.deep.equal([]);
  });
});
