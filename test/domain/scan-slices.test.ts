import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler, type QueryResult } from 'kysely';
import type { Db } from '../../db/connect.ts';
import { quantize } from '../../domain/chunks/quantize.ts';
import { scanVectorBlocks } from '../../domain/chunks/vector-blocks.ts';

const blocks = 300;
const vector = Float32Array.from([0.6, 0.8]);
const model = 'a';

/** A database that returns the blocks of any workspace at once, so that nothing but slices makes a scan wait. */
function createBlocks(): Db {
  const rows = Array.from({ length: blocks }, (_, n) => ({ document_id: `document-${n}`, first_index: 0, vectors: quantize(vector) }));
  const connection = {
    executeQuery: async <Row>() => ({ rows }) as unknown as QueryResult<Row>,
    async *streamQuery<Row>(): AsyncGenerator<QueryResult<Row>> {},
  };
  class BlocksDriver extends DummyDriver {
    override async acquireConnection() {
      return connection;
    }
  }
  return new Kysely({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new BlocksDriver(),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  });
}

describe('Scans of vectors without pgvector', () => {
  const db = createBlocks();
  const now = performance.now;
  // Every slice is over at the next look at the clock, however fast this machine is: one block for each.
  before(() => {
    let time = 0;
    performance.now = () => (time += 1_000);
  });
  after(() => {
    performance.now = now;
  });

  const scan = (workspaceId: string) => scanVectorBlocks(db, { workspaceId, model, vector, limit: 5 }, 5);

  it('leave the event loop a turn after each slice', async () => {
    let turns = 0;
    let scanning = true;
    const turning = (async () => {
      for (; scanning; turns += 1) await nextTurn();
    })();
    expect(await scan('one')).to.have.lengthOf(5);
    scanning = false;
    await turning;
    expect(turns).to.be.at.least(blocks);
  });

  it('of a workspace that is searched much do not keep another workspace waiting', async () => {
    const ended: string[] = [];
    const scans = ['loud', 'loud', 'loud', 'loud', 'quiet'].map((workspaceId) => scan(workspaceId).then(() => ended.push(workspaceId)));
    await Promise.all(scans);
    expect(ended[0]).to.equal('quiet');
    expect(ended).to.have.lengthOf(5);
  });
});
