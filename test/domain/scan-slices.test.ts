import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import {
  type CompiledQuery,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
} from 'kysely';
import type { Db } from '../../db/connect.ts';
import { lendBytes } from '../../db/lent-bytes.ts';
import { quantize } from '../../domain/chunks/quantize.ts';
import { scanVectorBlocks } from '../../domain/chunks/vector-blocks.ts';
import { postingLength, writePosting } from '../../domain/lexical/postings.ts';
import { rankByWords } from '../../domain/lexical/rank-by-words.ts';
import { highlightTexts } from '../../domain/search/highlights.ts';

const blocks = 100;
const vector = Float32Array.from([0.6, 0.8]);
const model = 'a';

/** A database that returns rows to any query at once, so that nothing but slices makes a scan wait. */
function createRows(rowsOf: (sql: string) => unknown[]): Db {
  const connection = {
    executeQuery: async <Row>({ sql }: CompiledQuery) => ({ rows: rowsOf(sql) }) as unknown as QueryResult<Row>,
    async *streamQuery<Row>(): AsyncGenerator<QueryResult<Row>> {},
  };
  class RowsDriver extends DummyDriver {
    override async acquireConnection() {
      return connection;
    }
  }
  return new Kysely({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new RowsDriver(),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  });
}

/** A database of postings of one term in so many documents. */
function createTerm(documents: number, postingsOfEach: number): Db {
  const bytes = Buffer.alloc(postingsOfEach * postingLength);
  for (let index = 0; index < postingsOfEach; index++) writePosting(bytes, index * postingLength, { index, length: 10, frequency: 1 });
  const postings = bytes.toString('latin1');
  const ofDocuments = Array.from({ length: documents }, (_, number) => `${number} ${postings}`).join(' ');
  const count = documents * postingsOfEach;
  const term = () => ({ frequency: count, chunks: 2 * count, terms: 20 * count, documents: lendBytes(ofDocuments) });
  const names = [0, 1, 2, 3, 4].map((number) => ({ number, document_id: `document-${number}` }));
  return createRows((sql) => (sql.includes('string_agg') ? [term()] : names));
}

const scanWords = (db: Db, byDocument: boolean) => async (workspaceId: string) => {
  const { best, release } = await rankByWords(db, { workspaceId, query: 'common', count: 5, byDocument });
  release();
  return best;
};

interface Scanned {
  scan: (workspaceId: string) => Promise<unknown[]>;
  /** How many slices it takes at least, if each look at the clock ends one. */
  slices: number;
}

const largeDocuments = createTerm(blocks, 300);
const smallDocuments = createTerm(300 * blocks, 1);
const quantized = quantize(vector);
const vectorBlocks = createRows(() =>
  Array.from({ length: blocks }, (_, n) => ({ document_id: `document-${n}`, first_index: 0, vectors: lendBytes(quantized) })),
);

const scans: Record<string, Scanned> = {
  'vectors without pgvector': {
    scan: (workspaceId) => scanVectorBlocks(vectorBlocks, { workspaceId, model, vector, limit: 5 }, 5),
    slices: blocks,
  },
  'postings of large documents': { scan: scanWords(largeDocuments, false), slices: 2 * blocks },
  'postings of many small documents': { scan: scanWords(smallDocuments, false), slices: 2 * blocks },
  'texts for what matched': { scan: (workspaceId) => highlightTexts('common', Array(5).fill('common words'), workspaceId), slices: 5 },
  'postings, for the best of each document': { scan: scanWords(smallDocuments, true), slices: 2 * blocks },
};

/** How many turns the event loop takes until the work is done, or fails. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let working = true;
  const turning = (async () => {
    for (; working; turns += 1) await nextTurn();
  })();
  try {
    await work();
  } finally {
    working = false;
  }
  await turning;
  return turns;
}

for (const [name, { scan, slices }] of Object.entries(scans)) {
  describe(`Scans of ${name}`, () => {
    const now = performance.now;
    // Every slice is over at the next look at the clock, however fast this machine is.
    before(() => {
      let time = 0;
      performance.now = () => (time += 1_000);
    });
    after(() => {
      performance.now = now;
    });

    it('leave the event loop a turn after each slice', async () => {
      let found: unknown[] = [];
      const turns = await turnsDuring(async () => {
        found = await scan('one');
      });
      expect(found).to.have.lengthOf(5);
      expect(turns).to.be.at.least(slices);
    });

    it('of a workspace that is searched much do not keep another workspace waiting', async () => {
      const ended: string[] = [];
      const each = ['loud', 'loud', 'loud', 'loud', 'quiet'].map((workspaceId) => scan(workspaceId).then(() => ended.push(workspaceId)));
      await Promise.all(each);
      expect(ended[0]).to.equal('quiet');
      expect(ended).to.have.lengthOf(5);
    });
  });
}

describe('Scans of all kinds', () => {
  it('share one slice of the thread at a time', async () => {
    const { now } = performance;
    let time = 0;
    performance.now = () => (time += 1_000);
    try {
      const [one, other] = Object.values(scans).map(({ scan }) => scan);
      expect(await turnsDuring(() => Promise.all([one?.('a'), other?.('b')]))).to.be.at.least(3 * blocks);
    } finally {
      performance.now = now;
    }
  });
});
