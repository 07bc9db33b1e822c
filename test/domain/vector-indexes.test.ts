import { expect } from 'chai';
import { sql } from 'kysely';
import { advisoryLocks } from '../../db/advisory-locks.ts';
import type { Db } from '../../db/connect.ts';
import { migrate } from '../../db/migrate.ts';
import { triggers } from '../../db/triggers.ts';
import { maxScanned } from '../../domain/search/pgvector.ts';
import { maxIndexes, type ReconciledIndexes, reconcileVectorIndexes } from '../../domain/search/reconcile-vector-indexes.ts';
import { insertWorkspaceOfChunks, makeVectors, storeIn } from '../support/chunks.ts';
import { createTestDatabase } from '../support/database.ts';
import { createPgvectorDatabase } from '../support/pgvector.ts';

const oneOfEight = 'chunk_vector_of_8_one';
const twoOfTwelve = 'chunk_vector_of_12_two';

describe('The indexes of large workspaces', () => {
  let db: Db;
  before(async () => {
    db = await createPgvectorDatabase();
  });
  after(() => db.destroy());

  const keep = () => reconcileVectorIndexes(db) as Promise<ReconciledIndexes>;
  const claimSize = (id: string, chunks: number) => db.updateTable('document').set({ chunk_count: chunks }).where('id', '=', id).execute();
  const addWorkspace = (id: string, dimensions: number) =>
    insertWorkspaceOfChunks(
      db,
      id,
      makeVectors(1, 3, dimensions).map((vector) => ({ model: 'a', vector })),
    );
  async function listIndexes(): Promise<string[]> {
    const { rows } = await sql<{ name: string }>`
      select relname as name from pg_index join pg_class on oid = indexrelid
      where indrelid = 'chunk_vector'::regclass and indisvalid order by relname`.execute(db);
    return rows.map(({ name }) => name).filter((name) => name.startsWith('chunk_vector_of'));
  }

  it('are not made in a database without pgvector, and by one process at a time', async () => {
    const plain = await createTestDatabase({ poolSize: 2 });
    try {
      expect(await reconcileVectorIndexes(plain.db)).to.deep.equal({ exact: 'the database has no pgvector' });
      await plain.db.connection().execute(async (other) => {
        await sql`select pg_advisory_lock(${advisoryLocks.vectorIndexes})`.execute(other);
        expect(await reconcileVectorIndexes(plain.db)).to.equal(undefined);
        await sql`select pg_advisory_unlock(${advisoryLocks.vectorIndexes})`.execute(other);
      });
      expect(await reconcileVectorIndexes(plain.db)).to.have.property('exact');
      const held = await sql`
        select from pg_locks join pg_database on pg_database.oid = database
        where locktype = 'advisory' and datname = current_database()`.execute(plain.db);
      expect(held.rows).to.deep.equal([]);
    } finally {
      await plain.drop();
    }
  });

  it('and their table are made by the workflow, not by a start, if pgvector comes to a database with chunks', async () => {
    const grown = await createPgvectorDatabase();
    try {
      const vectors = makeVectors(1, 3, 8).map((vector) => ({ model: 'a', vector }));
      await insertWorkspaceOfChunks(grown, 'one', vectors);
      await sql`drop table chunk_vector`.execute(grown);
      const changed = { ...triggers, 'triggers/search.sql': `${triggers['triggers/search.sql']}-- changed\n` };
      await migrate(grown, { triggers: changed });
      const isThere = async () => (await sql`select where to_regclass('chunk_vector') is not null`.execute(grown)).rows.length === 1;
      expect(await isThere()).to.equal(false);
      await reconcileVectorIndexes(grown);
      expect(await isThere()).to.equal(true);
      expect((await sql`select from chunk_vector`.execute(grown)).rows).to.have.length(3);
    } finally {
      await grown.destroy();
    }
  });

  it('are not made by a user who may not install pgvector, nor with one that is too old', async () => {
    await sql`drop extension vector cascade`.execute(db);
    await sql`drop table chunk_vector`.execute(db);
    await sql`create role app`.execute(db);
    await sql`set role app`.execute(db);
    expect(await keep())
      .to.have.property('exact')
      .that.matches(/^pgvector is there, but cannot be installed: permission denied/);
    await sql`reset role`.execute(db);

    expect(await keep()).to.deep.equal({ pgvector: '0.8.7', made: [], dropped: [] });
    await sql`update pg_extension set extversion = '0.7.4' where extname = 'vector'`.execute(db);
    expect(await keep()).to.deep.equal({ exact: 'pgvector 0.7.4 is too old: 0.8 is needed' });
    await sql`update pg_extension set extversion = '0.8.7' where extname = 'vector'`.execute(db);
  });

  it('follow what large workspaces hold', async () => {
    await addWorkspace('one', 8);
    await addWorkspace('two', 12);
    await addWorkspace('too-wide', 4_001);
    expect(await keep()).to.deep.include({ made: [], dropped: [] });

    await claimSize('one', maxScanned + 1);
    await claimSize('two', maxScanned);
    await claimSize('too-wide', maxScanned + 1);
    expect(await keep()).to.deep.include({ made: [oneOfEight], dropped: [] });
    expect(await keep()).to.deep.include({ made: [], dropped: [] });
    await claimSize('two', maxScanned + 1);
    expect(await keep()).to.deep.include({ made: [twoOfTwelve], dropped: [] });
    expect(await listIndexes()).to.deep.equal([twoOfTwelve, oneOfEight]);

    await claimSize('one', maxScanned - 1);
    expect(await keep()).to.deep.include({ made: [], dropped: [] });
    await claimSize('one', 3);
    expect(await keep()).to.deep.include({ made: [], dropped: [oneOfEight] });
    expect(await listIndexes()).to.deep.equal([twoOfTwelve]);
  });

  it('are made again where a build was interrupted', async () => {
    await sql`update pg_index set indisvalid = false where indexrelid = 'chunk_vector_of_12_two'::regclass`.execute(db);
    expect(await listIndexes()).to.deep.equal([]);
    expect(await keep()).to.deep.include({ made: [twoOfTwelve], dropped: [twoOfTwelve] });
    expect(await listIndexes()).to.deep.equal([twoOfTwelve]);
  });

  it('go with their workspace, and with a change of dimensions', async () => {
    await claimSize('one', maxScanned + 1);
    expect(await keep()).to.deep.include({ made: [oneOfEight], dropped: [] });
    await db.deleteFrom('workspace').where('id', '=', 'two').execute();
    // As the drain does afterwards.
    await db.deleteFrom('document').where('workspace_id', '=', 'two').execute();
    const narrower = makeVectors(1, 3, 6).map((embedding, n) => ({ text: `chunk ${n}`, embedding }));
    await storeIn(db, 'one', 'a', narrower);
    await claimSize('one', maxScanned + 1);
    expect(await keep()).to.deep.include({ made: ['chunk_vector_of_6_one'], dropped: [twoOfTwelve, oneOfEight] });
  });

  it('are made for the others if that of one workspace cannot be', async () => {
    for (const [id, chunks] of [
      ['broken', maxScanned + 2],
      ['whole', maxScanned + 1],
    ] as const) {
      await addWorkspace(id, 4);
      await claimSize(id, chunks);
    }
    await sql`update chunk_vector set vector = '[1,0]'::halfvec where document_id = 'broken'`.execute(db);
    expect(await keep().catch(String)).to.equal('error: expected 4 dimensions, not 2');
    expect(await listIndexes()).to.include('chunk_vector_of_4_whole');

    await db.deleteFrom('document').where('workspace_id', 'in', ['broken', 'whole']).execute();
    expect(await keep()).to.deep.include({ made: [], dropped: ['chunk_vector_of_4_broken', 'chunk_vector_of_4_whole'] });
  });

  it('are made for the largest only, when there are many', async () => {
    for (let i = 0; i < maxIndexes; i++) {
      await addWorkspace(`many-${i}`, 2);
      await claimSize(`many-${i}`, maxScanned + maxIndexes - i);
    }
    expect(await keep())
      .to.have.property('made')
      .with.length(maxIndexes - 1);
    expect(await listIndexes())
      .to.have.length(maxIndexes)
      .and.not.include(`chunk_vector_of_2_many-${maxIndexes - 1}`);
    expect(await keep()).to.deep.include({ made: [], dropped: [] });
  });
});
